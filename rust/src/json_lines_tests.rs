use super::*;

const LIMITS: Limits = Limits { longest: 100, deepest: 3 };

fn read(block: &str) -> Vec<Option<String>> {
    texts(&fields(block.as_bytes(), &["a".into()], LIMITS)[0])
}

fn texts(field: &Field) -> Vec<Option<String>> {
    let text = |row: usize| {
        let bytes = &field.text[field.offsets[row] as usize..field.offsets[row + 1] as usize];
        let present = field.present[row / 8] >> (row % 8) & 1 == 1;
        assert!(present || bytes.is_empty());
        present.then(|| String::from_utf8(bytes.to_vec()).unwrap())
    };
    (0..field.offsets.len() - 1).map(text).collect()
}

fn some(text: &str) -> Vec<Option<String>> {
    vec![Some(text.to_owned())]
}

#[test]
fn values_are_the_text_they_are_written_as() {
    for (line, text) in [
        (r#"{"a": "b"}"#, "b"),
        (r#"{"a":-0.50e+3}"#, "-0.50e+3"),
        (r#"{"a":0E7}"#, "0E7"),
        (r#"{"x": [{}, []], "a": true}"#, "true"),
        ("\t{\"a\": false } \r", "false"),
        (r#"{"a": 1, "a": "2"}"#, "2"),
        (r#"{"\u0061": "\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00é"}"#, "\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}é"),
    ] {
        assert_eq!(read(line), some(text), "{line}");
    }
    for line in [r#"{"a": null}"#, r#"{"a": []}"#, r#"{"a": {"a": 1}}"#, "{}", r#"{"b": 1}"#, r#"{"a": 1, "a": null}"#]
    {
        assert_eq!(read(line), [None], "{line}");
    }
    for half in [r"\ud83d", r"\ude00", r"x\ud83d\ud83d\ude00", r"\ud83d\n", r"\ude00\ud83d"] {
        assert_eq!(read(&format!("{{\"a\": \"{half}\"}}")), [None], "{half}");
    }
}

#[test]
fn what_is_no_object_is_left_out() {
    for line in [
        "",
        " ",
        "{",
        "[]",
        "7",
        "\"a\"",
        "{}{}",
        "{},",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":.1}",
        "{\"a\":+1}",
        "{\"a\":1e}",
        "{\"a\":1e+}",
        "{\"a\":-}",
        "{\"a\":NaN}",
        "{\"a\":Infinity}",
        "{\"a\":-Infinity}",
        "{\"a\":nul}",
        "{\"a\":truely}",
        "{\"a\":[1,]}",
        "{\"a\":[1 2]}",
        "{\"a\":\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":\"\\u12",
        "{\"a\":\"\t\"}",
        "{\"a\":\"\\",
        "\u{feff}{}",
        "{\u{a0}}",
        "{}\u{b}",
    ] {
        assert_eq!(read(line), [], "{line}");
    }
    assert_eq!(fields(b"{\"b\": \"\xff\"}\n{}", &["a".into()], LIMITS)[0].offsets, [0, 0]);
}

#[test]
fn limits_are_the_last_that_is_kept() {
    let padded = |length: usize| format!("{{{}}}", " ".repeat(length - 2));
    assert_eq!(read(&padded(100)), [None]);
    assert_eq!(read(&(padded(100) + "\r")), [None]);
    assert_eq!(read(&padded(101)), []);
    assert_eq!(read(r#"{"b": [{}]}"#), [None]);
    assert_eq!(read(r#"{"b": [{"c": []}]}"#), []);
    assert_eq!(read(r#"{"b": [[[]]]}"#), []);
    assert_eq!(read(r#"{"b": ["[{", "\"[{\\"]}"#), [None]);
}

#[test]
fn bits_and_offsets_go_on_over_bytes() {
    let block: String = (0..20).map(|i| if i % 3 == 0 { "{}\n".into() } else { format!("{{\"a\":{i}}}\n") }).collect();
    let expected: Vec<_> = (0..20).map(|i| (i % 3 != 0).then(|| i.to_string())).collect();
    assert_eq!(read(&block), expected);
}

#[test]
fn every_name_that_is_asked_for_twice_is_answered_twice() {
    let both = fields(b"{\"a\": 1}\nbroken\n", &["a".into(), "a".into()], LIMITS);
    assert_eq!(both[0], both[1]);
    assert_eq!(texts(&both[0]), some("1"));
}

#[test]
fn keys_are_sorted_and_different() {
    assert_eq!(keys(br#"{"b": 1, "\u0061": 2, "b": 3, "\ud800": 4}"#, LIMITS), Some(vec!["a".into(), "b".into()]));
    assert_eq!(keys(b"{}", LIMITS), Some(vec![]));
    assert_eq!(keys(b"[]", LIMITS), None);
}
