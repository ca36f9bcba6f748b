//! Fields of JSON lines. Each line is read alone: no line can make this fail, or change how another one is read. It
//! draws nothing.
//!
//! Proof that this keeps the sensitivity: `proofs/counting.md`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What a line may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes without the line break.
    pub longest: usize,
    /// Lists and objects inside each other, the line's own object among them.
    pub deepest: usize,
}

/// What the lines that were kept have under one key: text or nothing, in the layout of an Arrow string array.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Where the text of each line begins, and where that of the last one ends.
    pub offsets: Vec<i64>,
    pub text: Vec<u8>,
    /// One bit a line, the lowest first: whether there is text.
    pub present: Vec<u8>,
}

/// What stands under each of `names` in every line of `block` that is one JSON object within `limits`.
///
/// The last of equal keys counts. Text is itself, numbers and the words `true` and `false` are as they are written;
/// everything else, and text with half of a surrogate pair, is nothing.
pub fn fields(block: &[u8], names: &[String], limits: Limits) -> Vec<Field> {
    let mut fields: Vec<Field> = names.iter().map(|_| Field::new()).collect();
    let mut found = vec![None; names.len()];
    for line in block.split(|&byte| byte == b'\n') {
        found.fill(None);
        let kept = for_members(line, limits, |key, value| {
            for (name, slot) in names.iter().zip(&mut found) {
                if *key == *name.as_bytes() {
                    *slot = Some(value);
                }
            }
        });
        if kept.is_some() {
            for (field, value) in fields.iter_mut().zip(&found) {
                field.push(value.and_then(text_of));
            }
        }
    }
    fields
}

/// The different keys of a line in alphabetical order, or nothing if it is not one JSON object within `limits`.
///
/// Keys with half of a surrogate pair are left out: nobody can ask for them.
pub fn keys(line: &[u8], limits: Limits) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    for_members(line, limits, |key, _| keys.extend(String::from_utf8(key.into_owned())))?;
    keys.sort_unstable();
    keys.dedup();
    Some(keys)
}

/// Show `each` the members of the object in a line, values as they are written; the end is `None` if the line is to be left
/// out, and then what was shown does not count.
fn for_members<'a>(line: &'a [u8], limits: Limits, each: impl FnMut(Cow<'a, [u8]>, &'a str)) -> Option<()> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = std::str::from_utf8(line).ok().filter(|line| line.len() <= limits.longest)?;
    let mut reader = serde_json::Deserializer::from_str(line);
    let deepest = reader.deserialize_map(Members(each)).ok()?;
    reader.end().ok()?;
    (deepest < limits.deepest).then_some(())
}

/// Shows each member to the function, and says how deep the deepest value is.
struct Members<F>(F);

impl<'a, F: FnMut(Cow<'a, [u8]>, &'a str)> Visitor<'a> for Members<F> {
    type Value = usize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(mut self, mut map: A) -> Result<usize, A::Error> {
        let mut deepest = 0;
        while let Some((key, value)) = map.next_entry::<Key<'a>, &RawValue>()? {
            deepest = deepest.max(depth(value.get()));
            self.0(key.0, value.get());
        }
        Ok(deepest)
    }
}

/// What a key says, as bytes: with half of a surrogate pair it is not UTF-8 and nobody's name.
struct Key<'a>(Cow<'a, [u8]>);

impl<'a> Deserialize<'a> for Key<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'a> Visitor<'a> for Bytes {
            type Value = Key<'a>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a key")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'a [u8]) -> Result<Key<'a>, E> {
                Ok(Key(Cow::Borrowed(bytes)))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Key<'a>, E> {
                Ok(Key(Cow::Owned(bytes.to_vec())))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// How many lists and objects there are inside each other in a value.
fn depth(value: &str) -> usize {
    let (mut open, mut deepest) = (0, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    if value.starts_with(['[', '{']) {
        for byte in value.bytes() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_text = !is_text,
                b'[' | b'{' if !is_text => {
                    open += 1;
                    deepest = deepest.max(open);
                }
                b']' | b'}' if !is_text => open -= 1,
                _ => {}
            }
        }
    }
    deepest
}

/// What a value says, as far as anybody can ask for it.
fn text_of(value: &str) -> Option<Cow<'_, str>> {
    match value.as_bytes().first()? {
        b'"' => string_of(value),
        b'n' | b'[' | b'{' => None,
        _ => Some(Cow::Borrowed(value)),
    }
}

/// What a string in quotes says; nothing if it has half of a surrogate pair, which no UTF-8 can hold.
fn string_of(quoted: &str) -> Option<Cow<'_, str>> {
    if quoted.contains('\\') {
        return serde_json::from_str(quoted).ok().map(Cow::Owned);
    }
    quoted.strip_prefix('"')?.strip_suffix('"').map(Cow::Borrowed)
}

impl Field {
    fn new() -> Self {
        Self { offsets: vec![0], text: Vec::new(), present: Vec::new() }
    }

    fn push(&mut self, text: Option<Cow<'_, str>>) {
        let row = self.offsets.len() - 1;
        if row.is_multiple_of(8) {
            self.present.push(0);
        }
        if let (Some(last), Some(text)) = (self.present.last_mut(), text) {
            *last |= 1 << (row % 8);
            self.text.extend_from_slice(text.as_bytes());
        }
        self.offsets.push(self.text.len() as i64);
    }
}

#[cfg(test)]
#[path = "json_lines_tests.rs"]
mod tests;
