//! SQL functions for searches: regular expressions, fields and accent folding.

use std::sync::{Arc, Mutex, PoisonError};

use regex::{Regex, RegexBuilder};
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::fsrs::{DAY, Parameters};
use crate::html;
use crate::note::FIELD_SEPARATOR;
use crate::numbers::to_f64;
use crate::render;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Sorted id lists that a statement references by index.
pub(super) type IdLists = Arc<Mutex<Vec<Vec<i64>>>>;

/// Registers the functions on a connection.
pub(super) fn register(connection: &Connection, id_lists: &IdLists) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    // X REGEXP Y calls regexp(Y, X).
    connection.create_scalar_function("regexp", 2, flags, |context| {
        let regex = compile_regex(context)?;
        Ok(regex.is_match(text(context, 1)?))
    })?;
    connection.create_scalar_function("field", 2, flags, |context| {
        let column = usize::try_from(context.get::<i64>(1)?).unwrap_or(usize::MAX);
        Ok(text(context, 0)?.split(FIELD_SEPARATOR).nth(column).unwrap_or_default().to_owned())
    })?;
    connection.create_scalar_function("plain_first_field", 1, flags, |context| {
        Ok(html::strip(text(context, 0)?.split(FIELD_SEPARATOR).next().unwrap_or_default()))
    })?;
    connection.create_scalar_function("expand_clozes", 1, flags, |context| {
        Ok(render::expand_clozes(text(context, 0)?))
    })?;
    let id_lists = IdLists::clone(id_lists);
    connection.create_scalar_function(
        "in_id_list",
        2,
        FunctionFlags::SQLITE_UTF8,
        move |context| {
            let (number, id) = (context.get::<i64>(0)?, context.get::<i64>(1)?);
            let id_lists = id_lists.lock().unwrap_or_else(PoisonError::into_inner);
            let list = usize::try_from(number).ok().and_then(|number| id_lists.get(number));
            Ok(list.is_some_and(|list| list.binary_search(&id).is_ok()))
        },
    )?;
    connection.create_scalar_function("unaccented", 1, flags, |context| {
        Ok(strip_accents(text(context, 0)?))
    })?;
    // Stability in days, elapsed microseconds, decay. Anki also counts parts of a day here.
    connection.create_scalar_function("recall", 3, flags, |context| {
        let (stability, elapsed) = (context.get::<Option<f64>>(0)?, context.get::<Option<i64>>(1)?);
        let decay = context.get::<f64>(2)?;
        Ok(stability.zip(elapsed).map(|(stability, elapsed)| {
            Parameters::recall(decay, to_f64(elapsed.max(0)) / to_f64(DAY), stability)
        }))
    })?;
    connection.create_collation("unicase", |a, b| a.to_lowercase().cmp(&b.to_lowercase()))
}

/// Removes combining marks after NFKD normalisation.
pub(super) fn strip_accents(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.nfkd().filter(|letter| !is_combining_mark(*letter)).collect()
}

fn text<'a>(context: &'a Context<'_>, column: usize) -> rusqlite::Result<&'a str> {
    Ok(context.get_raw(column).as_str().unwrap_or_default())
}

/// The regular expression in the first argument, compiled once per statement.
fn compile_regex(context: &Context<'_>) -> rusqlite::Result<Arc<Regex>> {
    context.get_or_create_aux(0, |value| -> Result<Regex, Cause> {
        Ok(RegexBuilder::new(value.as_str()?).size_limit(1 << 22).build()?)
    })
}
