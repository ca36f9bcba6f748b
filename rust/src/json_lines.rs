//! Fields of JSON lines. Each line is read alone: no line can make this fail, or change how another one is read. It
//! draws nothing.
//!
//! Proof that this keeps the sensitivity: `proofs/counting.md`.

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
#[must_use]
pub fn fields(block: &[u8], names: &[String], limits: Limits) -> Vec<Field> {
    let mut fields: Vec<Field> = names.iter().map(|_| Field::new()).collect();
    let mut found = vec![Value::Nothing; names.len()];
    let mut key_text = Vec::new();
    for line in block.split(|&byte| byte == b'\n') {
        found.fill(Value::Nothing);
        let kept = members_of(line, limits, |key, value| {
            let key = key.characters(&mut key_text);
            for (name, slot) in names.iter().zip(&mut found) {
                if key == Some(name.as_bytes()) {
                    *slot = value;
                }
            }
        });
        if kept.is_some() {
            for (field, value) in fields.iter_mut().zip(&found) {
                field.push(*value);
            }
        }
    }
    fields
}

/// The different keys of a line in alphabetical order, or nothing if it is not one JSON object within `limits`.
///
/// Keys with half of a surrogate pair are left out: nobody can ask for them.
#[must_use]
pub fn keys(line: &[u8], limits: Limits) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    let mut text = Vec::new();
    members_of(line, limits, |key, _| {
        keys.extend(key.characters(&mut text).map(|key| String::from_utf8_lossy(key).into_owned()));
    })?;
    keys.sort_unstable();
    keys.dedup();
    Some(keys)
}

/// Show `each` the members of the object in a line, one after another; the end is `None` if the line is to be left
/// out, and then what was shown does not count.
fn members_of<'a>(line: &'a [u8], limits: Limits, each: impl FnMut(Text<'a>, Value<'a>)) -> Option<()> {
    let content = line.strip_suffix(b"\r").unwrap_or(line);
    if content.len() > limits.longest || std::str::from_utf8(content).is_err() {
        return None;
    }
    let mut reader = Reader { rest: content, deepest: limits.deepest };
    reader.skip_blanks();
    reader.members(1, each)?;
    reader.skip_blanks();
    reader.rest.is_empty().then_some(())
}

/// What stands under a key, as far as anybody can ask for it.
#[derive(Clone, Copy)]
enum Value<'a> {
    Nothing,
    Text(Text<'a>),
}

/// Text as it stands in a line, a string without its quotes.
#[derive(Clone, Copy)]
struct Text<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Text<'a> {
    /// What it says, in `scratch` if that is not how it is written; nothing if UTF-8 cannot hold it.
    fn characters<'b>(self, scratch: &'b mut Vec<u8>) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        if !self.escaped {
            return Some(self.raw);
        }
        scratch.clear();
        unescape(self.raw, scratch)?;
        Some(scratch)
    }
}

impl Field {
    fn new() -> Self {
        Self { offsets: vec![0], text: Vec::new(), present: Vec::new() }
    }

    fn push(&mut self, value: Value<'_>) {
        let (row, start) = (self.offsets.len() - 1, self.text.len());
        let present = match value {
            Value::Nothing => false,
            Value::Text(Text { raw, escaped: true }) => unescape(raw, &mut self.text).is_some(),
            Value::Text(Text { raw, escaped: false }) => {
                self.text.extend_from_slice(raw);
                true
            }
        };
        if !present {
            self.text.truncate(start);
        }
        if row % 8 == 0 {
            self.present.push(0);
        }
        if let Some(last) = self.present.last_mut() {
            *last |= u8::from(present) << (row % 8);
        }
        self.offsets.push(self.text.len() as i64);
    }
}

/// What is left of a line that is valid UTF-8. Every method takes what it names, or says `None`.
struct Reader<'a> {
    rest: &'a [u8],
    deepest: usize,
}

impl<'a> Reader<'a> {
    fn skip_blanks(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    fn take(&mut self, word: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    /// An object that is the `depth`th of those it is in, itself among them.
    fn members(&mut self, depth: usize, mut each: impl FnMut(Text<'a>, Value<'a>)) -> Option<()> {
        self.take(b"{")?;
        self.sequence(depth, b"}", |reader| {
            let key = reader.string()?;
            reader.skip_blanks();
            reader.take(b":")?;
            reader.skip_blanks();
            each(key, reader.value(depth)?);
            Some(())
        })
    }

    /// What follows an opening bracket: as many of one thing as there are, with commas between them.
    fn sequence(&mut self, depth: usize, end: &[u8], mut one: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if depth > self.deepest {
            return None;
        }
        self.skip_blanks();
        if self.take(end).is_some() {
            return Some(());
        }
        loop {
            one(self)?;
            self.skip_blanks();
            if self.take(end).is_some() {
                return Some(());
            }
            self.take(b",")?;
            self.skip_blanks();
        }
    }

    /// Any value that is inside `depth` lists and objects, which is as deep as this calls itself.
    fn value(&mut self, depth: usize) -> Option<Value<'a>> {
        let start = self.rest;
        match *start.first()? {
            b'"' => return self.string().map(Value::Text),
            b'{' => return self.members(depth + 1, |_, _| ()).map(|()| Value::Nothing),
            b'[' => {
                self.take(b"[")?;
                return self
                    .sequence(depth + 1, b"]", |reader| reader.value(depth + 1).map(|_| ()))
                    .map(|()| Value::Nothing);
            }
            b'n' => return self.take(b"null").map(|()| Value::Nothing),
            b't' => self.take(b"true")?,
            b'f' => self.take(b"false")?,
            _ => self.number()?,
        }
        Some(Value::Text(Text { raw: &start[..start.len() - self.rest.len()], escaped: false }))
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.take(b"-");
        if self.take(b"0").is_none() {
            self.digits()?;
        }
        if self.take(b".").is_some() {
            self.digits()?;
        }
        if let [b'e' | b'E', rest @ ..] = self.rest {
            self.rest = rest;
            if let [b'+' | b'-', rest @ ..] = self.rest {
                self.rest = rest;
            }
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = &self.rest[count..];
        (count > 0).then_some(())
    }

    fn string(&mut self) -> Option<Text<'a>> {
        self.take(b"\"")?;
        let start = self.rest;
        let mut escaped = false;
        loop {
            let plain = self.rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < b' ')?;
            let (at, rest) = self.rest[plain..].split_first()?;
            self.rest = rest;
            match *at {
                b'"' => return Some(Text { raw: &start[..start.len() - rest.len() - 1], escaped }),
                b'\\' => escaped = true,
                _ => return None,
            }
            match *rest.first()? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.rest = &rest[1..],
                b'u' if hexadecimal(&rest[1..]).is_some() => self.rest = &rest[5..],
                _ => return None,
            }
        }
    }
}

/// Add what a string with valid escapes says; nothing if that has half of a surrogate pair.
fn unescape(raw: &[u8], text: &mut Vec<u8>) -> Option<()> {
    let mut rest = raw;
    while let Some(plain) = rest.iter().position(|&byte| byte == b'\\') {
        text.extend_from_slice(&rest[..plain]);
        let (&kind, after) = rest[plain + 1..].split_first()?;
        rest = after;
        text.push(match kind {
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, length) = character(rest)?;
                rest = &rest[length..];
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            itself => itself,
        });
    }
    text.extend_from_slice(rest);
    Some(())
}

/// The character whose digits follow a `\u`, and how many bytes it takes.
fn character(digits: &[u8]) -> Option<(char, usize)> {
    let first = hexadecimal(digits)?;
    let mut pair = [first, 0];
    let mut length = 4;
    if (0xd800..0xdc00).contains(&first) {
        pair[1] = hexadecimal(digits.get(4..)?.strip_prefix(b"\\u")?)?;
        length = 10;
    }
    Some((char::decode_utf16(pair).next()?.ok()?, length))
}

fn hexadecimal(digits: &[u8]) -> Option<u16> {
    let digits = digits.get(..4)?;
    digits.iter().try_fold(0, |number, &digit| Some(number << 4 | char::from(digit).to_digit(16)? as u16))
}

#[cfg(test)]
#[path = "json_lines_tests.rs"]
mod tests;
