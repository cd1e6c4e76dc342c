//! Image occlusion: cards that hide a region of a picture, in Anki's format.
//!
//! The field `Occlusion` has one cloze deletion per region, such as
//! `{{c1::image-occlusion:rect:left=.1:top=.2:width=.3:height=.1:oi=1}}`; `oi=1` hides the other
//! regions too. Sizes are shares of the picture.

use crate::html;
use crate::ids::NoteTypeId;
use crate::note::{Form, NoteType, Template, TypeConfig};

/// Anki's number of this kind of type.
const STOCK_KIND: i64 = 6;
/// Name of the type, as in Anki.
pub const TYPE_NAME: &str = "Image Occlusion";

/// A card of an image occlusion note.
#[derive(Clone, Debug, PartialEq)]
pub struct Occlusion {
    /// HTML of the picture.
    pub image: String,
    /// Shown above it.
    pub header: String,
    /// Shown with the answer.
    pub extra: String,
    /// All regions.
    pub regions: Vec<Region>,
}

/// A region of the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Cloze number.
    pub number: u32,
    /// Shape.
    pub shape: Shape,
    /// Left edge, from 0 to 1.
    pub left: f64,
    /// Top edge, from 0 to 1.
    pub top: f64,
    /// Width, from 0 to 1.
    pub width: f64,
    /// Height, from 0 to 1.
    pub height: f64,
    /// Corners of a polygon.
    pub points: Vec<(f64, f64)>,
    /// Whether this card asks for it.
    pub asked: bool,
    /// Whether the question hides it.
    pub hidden: bool,
}

/// Shape of a region.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    /// Rectangle.
    Rectangle,
    /// Ellipse in the rectangle.
    Ellipse,
    /// Polygon.
    Polygon,
}

impl Shape {
    /// Anki's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rectangle => "rect",
            Self::Ellipse => "ellipse",
            Self::Polygon => "polygon",
        }
    }
}

/// Whether notes of a type are image occlusions.
pub fn is_occlusion(note_type: &NoteType) -> bool {
    let kind = note_type.config.other.get("originalStockKind");
    let named = |name: &str| note_type.fields.iter().any(|field| field == name);
    let by_shape = || {
        let container =
            |template: &Template| template.question.contains("image-occlusion-container");
        named("Occlusion") && named("Image") && note_type.templates.iter().any(container)
    };
    note_type.cloze && (kind.and_then(serde_json::Value::as_i64) == Some(STOCK_KIND) || by_shape())
}

impl Occlusion {
    /// The card with this ordinal; `None` for other types of notes.
    pub fn of(note_type: &NoteType, fields: &[String], ordinal: u32) -> Option<Self> {
        if !is_occlusion(note_type) {
            return None;
        }
        // Anki finds these fields by position, whatever their names.
        let field = |index: usize| fields.get(index).cloned().unwrap_or_default();
        let regions = parse(&field(0), ordinal + 1);
        Some(Self { image: field(1), header: field(2), extra: field(3), regions })
    }

    /// Both sides, with the picture but without its masks.
    pub fn sides(&self) -> crate::render::Sides {
        let header = if self.header.is_empty() {
            String::new()
        } else {
            format!("<div>{}</div>", self.header)
        };
        let asked = self.regions.iter().filter(|region| region.asked).count();
        let hidden = self.regions.iter().filter(|region| region.hidden).count();
        let label =
            format!("<div>{asked} of {} regions asked, {hidden} hidden</div>", self.regions.len());
        let extra = if self.extra.is_empty() {
            String::new()
        } else {
            format!("<div>{}</div>", self.extra)
        };
        crate::render::Sides {
            front: format!("{header}{}{label}", self.image),
            back: format!("{header}{}{label}<hr id=answer>{extra}", self.image),
            typed: None,
        }
    }

    /// Name of the picture.
    pub fn image_name(&self) -> Option<String> {
        html::media_names(&self.image).into_iter().next()
    }
}

/// Parses the regions; `asked` is the cloze number of the card.
fn parse(text: &str, asked: u32) -> Vec<Region> {
    let mut regions = Vec::new();
    for part in text.split("{{c").skip(1) {
        let Some((number, rest)) = part.split_once("::") else { continue };
        let (Ok(number), Some((body, _))) = (number.parse::<u32>(), rest.split_once("}}")) else {
            continue;
        };
        let Some(body) = body.strip_prefix("image-occlusion:") else { continue };
        regions.extend(region(body, number, asked));
    }
    // Without `oi` only the asked region is hidden.
    regions
}

fn region(body: &str, number: u32, asked: u32) -> Option<Region> {
    let mut parts = body.split(':');
    let shape = match parts.next()? {
        "rect" => Shape::Rectangle,
        "ellipse" => Shape::Ellipse,
        "polygon" => Shape::Polygon,
        _ => return None,
    };
    let mut region = Region {
        number,
        shape,
        left: 0.0,
        top: 0.0,
        width: 0.0,
        height: 0.0,
        points: Vec::new(),
        asked: number == asked,
        hidden: number == asked,
    };
    for (key, value) in parts.filter_map(|part| part.split_once('=')) {
        let figure = value.parse::<f64>().ok().filter(|figure| figure.is_finite()).unwrap_or(0.0);
        match key {
            "left" => region.left = figure,
            "top" => region.top = figure,
            "width" => region.width = figure,
            "height" => region.height = figure,
            // An ellipse has radii.
            "rx" => region.width = figure * 2.0,
            "ry" => region.height = figure * 2.0,
            "oi" if value == "1" => region.hidden = true,
            "points" => region.points = points(value),
            _ => {}
        }
    }
    Some(region)
}

/// Parses `.1,.2 .3,.4`.
fn points(text: &str) -> Vec<(f64, f64)> {
    let point = |pair: &str| {
        let (x, y) = pair.split_once(',')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    };
    text.split_whitespace().filter_map(point).take(200).collect()
}

/// The field `Occlusion` of rectangles and ellipses, each a card of its own.
pub fn field(regions: &[(Shape, [f64; 4])], hide_all: bool) -> String {
    let all = if hide_all { ":oi=1" } else { "" };
    let lines = (1..).zip(regions).map(|(number, (shape, [left, top, width, height]))| {
        let size = match shape {
            Shape::Ellipse => format!("rx={}:ry={}", short(width / 2.0), short(height / 2.0)),
            Shape::Rectangle | Shape::Polygon => {
                format!("width={}:height={}", short(*width), short(*height))
            }
        };
        let (left, top, shape) = (short(*left), short(*top), shape.as_str());
        format!("{{{{c{number}::image-occlusion:{shape}:left={left}:top={top}:{size}{all}}}}}")
    });
    lines.collect::<Vec<_>>().join("<br>")
}

/// Four decimals without a leading zero, as Anki writes them.
fn short(figure: f64) -> String {
    let text = format!("{figure:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text.strip_prefix("0.") {
        Some(rest) => format!(".{rest}"),
        None => text.to_owned(),
    }
}

/// Anki's own type for image occlusion.
pub fn note_type() -> NoteType {
    let side = "{{#Header}}<div>{{Header}}</div>{{/Header}}\n<div style=\"display: none\">{{cloze:Occlusion}}</div>\n<div id=\"err\"></div>\n<div id=\"image-occlusion-container\">\n    {{Image}}\n    <canvas id=\"image-occlusion-canvas\"></canvas>\n</div>\n<script>\ntry {\n    anki.imageOcclusion.setup();\n} catch (exc) {\n    document.getElementById(\"err\").innerHTML = `Error loading image occlusion. Is your Anki version up to date?<br><br>${exc}`;\n}\n</script>\n";
    let answer = format!(
        "{side}\n<div><button id=\"toggle\">Toggle Masks</button></div>\n{{{{#Back Extra}}}}<div>{{{{Back Extra}}}}</div>{{{{/Back Extra}}}}\n"
    );
    let css = "#image-occlusion-canvas {\n    --inactive-shape-color: #ffeba2;\n    --active-shape-color: #ff8e8e;\n    --inactive-shape-border: 1px #212121;\n    --active-shape-border: 1px #212121;\n    --highlight-shape-color: #ff8e8e00;\n    --highlight-shape-border: 1px #ff8e8e;\n}\n\n.card {\n    font-family: arial;\n    font-size: 20px;\n    text-align: center;\n    color: black;\n    background-color: white;\n}\n";
    let fields = ["Occlusion", "Image", "Header", "Back Extra", "Comments"];
    let mut config = TypeConfig::default();
    config.other.insert("originalStockKind".to_owned(), STOCK_KIND.into());
    // Anki finds the fields by these numbers.
    config.fields = (0..fields.len())
        .map(|tag| {
            [("tag".to_owned(), tag.into()), ("preventDeletion".to_owned(), (tag < 4).into())]
        })
        .map(|pairs| pairs.into_iter().collect())
        .collect();
    NoteType {
        id: NoteTypeId(0),
        name: TYPE_NAME.to_owned(),
        fields: fields.map(str::to_owned).to_vec(),
        templates: vec![Template { name: TYPE_NAME.to_owned(), question: side.to_owned(), answer }],
        css: css.to_owned(),
        config,
        ..Form::Cloze.note_type()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_regions_are_read_back() {
        let regions =
            [(Shape::Rectangle, [0.1, 0.2, 0.25, 0.5]), (Shape::Ellipse, [0.5, 0.0, 0.2, 0.1])];
        let text = field(&regions, false);
        assert_eq!(
            text,
            "{{c1::image-occlusion:rect:left=.1:top=.2:width=.25:height=.5}}<br>{{c2::image-occlusion:ellipse:left=.5:top=0:rx=.1:ry=.05}}"
        );
        let read = parse(&text, 2);
        let edges: Vec<[f64; 4]> = read
            .iter()
            .map(|region| [region.left, region.top, region.width, region.height])
            .collect();
        assert_eq!(edges, regions.map(|(_, edges)| edges));
        let states: Vec<(bool, bool)> =
            read.iter().map(|region| (region.asked, region.hidden)).collect();
        assert_eq!(states, [(false, false), (true, true)], "only the asked one is hidden");
        assert!(parse(&field(&regions, true), 2).iter().all(|region| region.hidden));
    }

    #[test]
    fn malformed_regions_are_passed_over() {
        for text in
            ["", "{{c1::", "{{c1::image-occlusion:star:left=1}}", "{{cx::image-occlusion:rect}}"]
        {
            assert_eq!(parse(text, 1), [], "{text}");
        }
        let polygon = parse("{{c1::image-occlusion:polygon:points=.1,.2 .3,x .5,.6}}", 1);
        assert_eq!(polygon[0].points, [(0.1, 0.2), (0.5, 0.6)]);
    }
}
