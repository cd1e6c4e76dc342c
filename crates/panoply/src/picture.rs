//! PNG rendering of a chart, with an embedded font.
//!
//! The font has the letters of English and of fund codes. Servers often have no fonts installed;
//! the SVG of the same chart leaves the choice to the viewer.

use panoply_rmf::chart::{Anchor, Chart, Mark, RULE, SERIES, TextStyle};
use tiny_skia::{Color, FillRule, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

const FONT: &[u8] = include_bytes!("../../../data/fonts/dejavu-sans-latin.ttf");
/// Pixels per unit, for high-density screens.
const SCALE: f32 = 2.0;

/// Renders the chart. `None` when it is too large.
pub(crate) fn png(picture: &Chart) -> Option<Vec<u8>> {
    let face = Face::parse(FONT, 0).ok()?;
    let dots = |length: f64| narrow(length) * SCALE;
    let mut sheet = Pixmap::new(whole(dots(picture.width)), whole(dots(picture.height)))?;
    sheet.fill(Color::WHITE);
    for mark in &picture.marks {
        paint(&mut sheet, &face, mark);
    }
    sheet.encode_png().ok()
}

fn paint(sheet: &mut Pixmap, face: &Face<'_>, mark: &Mark) {
    let zoom = Transform::from_scale(SCALE, SCALE);
    let mut path = PathBuilder::new();
    match mark {
        Mark::Rule { from, to, y } => {
            path.move_to(narrow(*from), narrow(*y));
            path.line_to(narrow(*to), narrow(*y));
            stroke(sheet, path, 1.0, RULE, zoom);
        }
        Mark::Line(points) => {
            for (place, (x, y)) in points.iter().enumerate() {
                if place == 0 {
                    path.move_to(narrow(*x), narrow(*y));
                } else {
                    path.line_to(narrow(*x), narrow(*y));
                }
            }
            stroke(sheet, path, 2.0, SERIES, zoom);
        }
        Mark::Dot(x, y) => {
            path.push_circle(narrow(*x), narrow(*y), 3.0);
            fill(sheet, path, SERIES, zoom);
        }
        Mark::Text { x, y, anchor, style, text } => {
            let wide = width_of(face, *style, text);
            let start = match anchor {
                Anchor::Start => narrow(*x),
                Anchor::End => narrow(*x) - wide,
            };
            fill(sheet, written(face, *style, text, start, narrow(*y)), style.colour(), zoom);
        }
    }
}

fn stroke(sheet: &mut Pixmap, path: PathBuilder, width: f32, colour: [u8; 3], zoom: Transform) {
    // A single point has no line; only its dot is drawn.
    if let Some(path) = path.finish() {
        let pen = Stroke { width, ..Stroke::default() };
        sheet.stroke_path(&path, &paint_of(colour), &pen, zoom, None);
    }
}

fn fill(sheet: &mut Pixmap, path: PathBuilder, colour: [u8; 3], zoom: Transform) {
    let path: Option<Path> = path.finish();
    if let Some(path) = path {
        sheet.fill_path(&path, &paint_of(colour), FillRule::Winding, zoom, None);
    }
}

fn paint_of([red, green, blue]: [u8; 3]) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

/// Outlines of a text that starts at `x` on the baseline `y`.
fn written(face: &Face<'_>, style: TextStyle, text: &str, x: f32, y: f32) -> PathBuilder {
    let mut pen = GlyphPen { path: PathBuilder::new(), x, y, size: size_of(face, style) };
    for letter in text.chars() {
        let glyph = glyph_of(face, letter);
        face.outline_glyph(glyph, &mut pen);
        pen.x += advance(face, glyph) * pen.size;
    }
    pen.path
}

fn width_of(face: &Face<'_>, style: TextStyle, text: &str) -> f32 {
    let units: f32 = text.chars().map(|letter| advance(face, glyph_of(face, letter))).sum();
    units * size_of(face, style)
}

/// Scale from font units to chart units.
fn size_of(face: &Face<'_>, style: TextStyle) -> f32 {
    narrow(style.size()) / f32::from(face.units_per_em())
}

fn advance(face: &Face<'_>, glyph: GlyphId) -> f32 {
    f32::from(face.glyph_hor_advance(glyph).unwrap_or_default())
}

/// A missing glyph is shown as the empty box of the font.
fn glyph_of(face: &Face<'_>, letter: char) -> GlyphId {
    face.glyph_index(letter).unwrap_or(GlyphId(0))
}

/// Glyph outline builder; flips the y axis, which points up in fonts and down in images.
struct GlyphPen {
    path: PathBuilder,
    x: f32,
    y: f32,
    size: f32,
}

impl GlyphPen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (x.mul_add(self.size, self.x), (-y).mul_add(self.size, self.y))
    }
}

impl OutlineBuilder for GlyphPen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// f32 is precise enough for coordinates of a few hundred units.
#[expect(clippy::cast_possible_truncation, reason = "a picture's places are small")]
const fn narrow(place: f64) -> f32 {
    place as f32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a picture's size is small, and a size below zero is none"
)]
fn whole(length: f32) -> u32 {
    length.round().max(0.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Mark {
        let text = text.to_owned();
        Mark::Text { x: 4.0, y: 20.0, anchor: Anchor::Start, style: TextStyle::Heading, text }
    }

    fn painted(marks: Vec<Mark>) -> Pixmap {
        let picture = Chart { title: "t".to_owned(), width: 60.0, height: 30.0, marks };
        Pixmap::decode_png(&png(&picture).unwrap()).unwrap()
    }

    fn share_of_ink(sheet: &Pixmap) -> usize {
        sheet.pixels().iter().filter(|dot| dot.red() < 250).count()
    }

    #[test]
    fn marks_have_their_position_and_colour() {
        let sheet = painted(vec![
            Mark::Line(vec![(10.0, 5.0), (50.0, 5.0)]),
            Mark::Dot(30.0, 20.0),
            Mark::Rule { from: 0.0, to: 60.0, y: 28.0 },
        ]);
        assert_eq!((sheet.width(), sheet.height()), (120, 60));
        let colour = |x, y| {
            let dot = sheet.pixel(x, y).unwrap();
            [dot.red(), dot.green(), dot.blue()]
        };
        assert_eq!(colour(60, 10), SERIES, "the line");
        assert_eq!(colour(60, 40), SERIES, "the dot");
        assert_eq!(colour(60, 56), RULE, "the rule");
        assert_eq!(colour(10, 30), [255; 3], "the paper");
    }

    #[test]
    fn text_is_drawn_and_the_font_covers_fund_codes() {
        let face = Face::parse(FONT, 0).unwrap();
        let catalog = panoply_rmf::catalog::FundCatalog::bundled().unwrap();
        for letter in
            catalog.funds().iter().flat_map(|fund| fund.symbol.chars()).chain("·%,- 0".chars())
        {
            assert!(face.glyph_index(letter).is_some(), "letter: {letter:?}");
        }
        let (nothing, little, much) =
            (painted(vec![]), painted(vec![text("-")]), painted(vec![text("NAVW")]));
        assert_eq!(share_of_ink(&nothing), 0);
        assert!(share_of_ink(&little) > 0 && share_of_ink(&much) > share_of_ink(&little) * 5);
    }

    #[test]
    fn end_anchored_text_stays_left_of_its_anchor() {
        let end = Mark::Text {
            x: 30.0,
            y: 20.0,
            anchor: Anchor::End,
            style: TextStyle::Label,
            text: "12.5".to_owned(),
        };
        let sheet = painted(vec![end]);
        let right = sheet
            .pixels()
            .iter()
            .enumerate()
            .filter(|(_, dot)| dot.red() < 250)
            .map(|(place, _)| place % 120)
            .max();
        assert!(right.is_some_and(|right| (50..=60).contains(&right)), "{right:?}");
    }
}
