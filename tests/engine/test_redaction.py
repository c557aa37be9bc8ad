"""What redaction finds and leaves, rule by rule and by the form of a string."""

from __future__ import annotations

import base64
import json
from functools import partial
from typing import Any

import pytest

from convcli import dialects
from convcli.engine.redaction.redactor import Redactor
from convcli.engine.redaction.rules import KINDS, Secret, secrets
from convcli.model.document import Rows
from tests.growth import MOST, Steps, growth
from tests.secret_examples import filled

pytest.importorskip("phonenumbers")

KEY = filled("sk-ant-api03-{word:93}AA")


def masked(text: str, *words: str) -> str:
    """What a user message becomes."""
    return content(chat(text), *words)


def chat(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def content(document: Any, *words: str) -> str:
    result, _ = Redactor(words).redact(document, dialects.get("openai-chat"))
    return str(result["messages"][0]["content"])


def test_there_are_rules_for_the_families_of_forty_services() -> None:
    assert len(secrets()) >= 60
    assert {rule.kind for rule in secrets()} <= set(KINDS)
    assert all(rule.source.startswith("https://") for rule in secrets())


@pytest.mark.parametrize("rule", secrets(), ids=lambda rule: rule.id)
def test_a_rule_finds_its_examples_and_nothing_like_them(rule: Secret) -> None:
    for template in rule.match:
        secret = filled(template)
        assert any(word in secret for word in rule.keywords)
        for text in (secret, f"the value is {secret} today", f'"{secret}"', f"x\n{secret}\n"):
            found = rule.expression.search(text)
            assert found is not None, text
            assert found["secret" if "secret" in found.re.groupindex else 0] not in masked(text)
    for text in rule.other:
        assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to ann.lee@acme.dev.", "write to <EMAIL-1>."),
        ("call +49 30 901820 or (202) 456-1111", "call <PHONE-1> or <PHONE-2>"),
        ("ping 84.12.9.3 and 2a01:4f8:1c1c::17", "ping <IP-1> and <IP-2>"),
        ("cd /home/annlee/app && ls /Users/annlee", "cd <HOME-1>/app && ls <HOME-2>"),
        (r"C:\Users\annlee\app", r"<HOME-1>\app"),
        ("DB_PASSWORD=hunter2 ./run", "DB_PASSWORD=<PASSWORD-1> ./run"),
        ("export API_KEY='a1b2c3d4e5'", "export API_KEY='<PASSWORD-1>'"),
        ("GET /x?token=a8f5f167f44f&page=2", "GET /x?token=<PASSWORD-1>&page=2"),
        ("the password: hunter2.", "the password: <PASSWORD-1>."),
        ("**Password:** `Summer2026!` (changed)", "**Password:** `<PASSWORD-1>` (changed)"),
        ("user: ann, password: hunter22, host: h", "user: ann, password: <PASSWORD-1>, host: h"),
        ("db:\n  password: s3cr3tpw\n  port: 1", "db:\n  password: <PASSWORD-1>\n  port: 1"),
        ("spring.datasource.password=s3cr3tpw", "spring.datasource.password=<PASSWORD-1>"),
        ("the API key: a1b2c3d4e5 works", "the API key: <PASSWORD-1> works"),
        ("password = p4ss&word", "password = <PASSWORD-1>"),
        ("curl --password s3cr3tpw http://h", "curl --password <PASSWORD-1> http://h"),
        ("see ~/.claude/projects/-home-annlee-app/x.jsonl", "see ~/.claude/projects/-home-<USER-1>-app/x.jsonl"),
    ],
)
def test_personal_data_becomes_a_placeholder(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:acme/app.git", "noreply@github.com", "/home/user/work", "C:\\Users\\Test\\a", "test@test.com",
        "/home/codex/.codex/skills",
        "~/.claude/projects/-home-user-work", "Co-authored-by: openhands <openhands@all-hands.dev>",
        "ftp://username:password@ftp.example.com/a", "amqp://guest:guest@localhost:5672/",
        '__version__ = "3.5.0.1"',
        "169.254.169.254", "8.8.8.8", "1.2.3.4", "2001:1::1", "tel:+14155550123",
        '"AWS::ApiGateway::ApiKey": "b899a0d240b53d9d"', '{"access_token": "hf_jwt_…"}',
        "ann@example.com", "icon@2x.png",
        "version 1.2.3.4", "127.0.0.1:8080", "0.0.0.0", "192.0.2.7", "12:34:56", "std::vector::iterator",
        "1234567890", "2026-11-27", "call 555-0100-200", "toolu_01A09q90qw90lq917835lq9",
        "MAX_TOKENS=4096", "API_KEY=$API_KEY", "password = os.environ['PASSWORD']", "token: string",
        "connect(password=pw1234, n=1)", "secret = base64.b16encode", "$password=abc123x",
        "password: correcthorse", "password: bcrypt2", "password: https://acme.dev/r2d2", "secret = s3_name1 + 2",
        "PASSWORD=<your password>", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "/home/linuxbrew/bin", "https://acme.dev/home/annlee", "sk-learn-contrib",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert masked(text) == text


def test_equal_values_have_equal_placeholders_in_all_documents_of_a_job() -> None:
    redactor, dialect = Redactor(), dialects.get("openai-chat")
    texts = ["a@acme.dev b@acme.dev", "b@acme.dev"]
    results = [redactor.redact(chat(text), dialect)[0]["messages"][0]["content"] for text in texts]
    assert results == ["<EMAIL-1> <EMAIL-2>", "<EMAIL-2>"]


def test_a_number_that_the_document_has_already_is_not_given_again() -> None:
    assert masked("<EMAIL-1> and a@acme.dev") == "<EMAIL-1> and <EMAIL-2>"


def test_listed_words_are_masked_in_any_case_but_not_inside_of_words() -> None:
    assert masked("Falcon, FALCON and falconry", "falcon") == "<WORD-1>, <WORD-1> and falconry"


def test_a_listed_word_that_the_dialect_needs_stays_where_it_is_needed() -> None:
    result, _ = Redactor(["user", "content"]).redact(chat("the user"), dialects.get("openai-chat"))
    assert result == {"messages": [{"role": "user", "content": "the <WORD-1>"}]}


def test_json_in_a_string_keeps_its_spelling_and_stays_json() -> None:
    text = '{ "mail":"a\\"b", "body": "line\\nann@acme.dev", "n": 1.50 }'
    assert masked(text) == '{ "mail":"a\\"b", "body": "line\\n<EMAIL-1>", "n": 1.50 }'


def test_text_that_quotes_a_program_keeps_its_escapes() -> None:
    assert masked(r"print(\"hi\nann@acme.dev\")") == r"print(\"hi\n<EMAIL-1>\")"


def test_a_private_key_in_json_is_masked_as_a_whole() -> None:
    block = filled("-----BEGIN RSA PRIVATE KEY-----\n{alnum:64}\n{alnum:64}\n-----END RSA PRIVATE KEY-----")
    assert json.loads(masked(json.dumps({"k": block})))["k"] == "<PRIVATE-KEY-1>"
    assert masked(f"key:\n{block}\nend") == "key:\n<PRIVATE-KEY-1>\nend"


def test_text_in_base64_is_masked_and_stays_base64() -> None:
    inner = "please write to ann@acme.dev soon"
    text = base64.b64encode(inner.encode()).decode()
    assert base64.b64decode(masked(f"echo {text} | base64 -d").split()[1]).decode() == inner.replace(
        "ann@acme.dev", "<EMAIL-1>"
    )


def test_an_image_stays_as_it_is() -> None:
    data = "A" * 600 + "AKIA" + "Q" * 16 + "A" * 600
    url = f"data:image/png;base64,{data}"
    assert masked(url) == url


def test_keys_of_objects_are_masked_and_values_by_the_name_of_their_key() -> None:
    arguments = json.dumps({"files": {"/home/annlee/a": 1}, "db_password": "correct7horse"})
    assert json.loads(masked(arguments)) == {"files": {"<HOME-1>/a": 1}, "db_password": "<PASSWORD-1>"}


def test_the_names_in_the_directory_of_a_session_are_masked_everywhere() -> None:
    rows = Rows([
        {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s", "cwd": "/home/annlee/app",
         "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": "user", "content": "annlee@forge:~$ id annlee"}},
    ])  # fmt: skip
    result, _ = Redactor().redact(rows, dialects.get("claude-code"))
    assert result[0]["message"]["content"] == "<USER-1>@<HOST-1>:~$ id <USER-1>"
    assert result[0]["cwd"] == "<HOME-1>/app"
    assert isinstance(result, Rows)


@pytest.mark.parametrize(
    ("directory", "expected"),
    [("/home/annlee/app", "<HOST-1>"), ("/home/annlee/b", "forge.acme"), ("/x", "forge.acme")],
)
def test_names_hold_in_the_project_of_their_session(directory: str, expected: str) -> None:
    def session(text: str, directory: str) -> Rows:
        return Rows([
            {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s", "cwd": directory,
             "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": "user", "content": text}},
        ])  # fmt: skip

    redactor, dialect = Redactor(), dialects.get("claude-code")
    where = directory if directory == "/x" else "/home/annlee/app"
    redactor.redact(session("git@forge.acme:team/app.git", where), dialect, "one")
    result, _ = redactor.redact(session("ssh forge.acme", directory), dialect, "two")
    assert result[0]["message"]["content"] == f"ssh {expected}"


def test_what_a_stream_cuts_into_fragments_is_found() -> None:
    def event(text: str) -> dict[str, Any]:
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}  # fmt: skip

    pieces = ["mail an", "n@ac", "me.dev now"]
    result, hits = Redactor().redact(Rows(list(map(event, pieces))), dialects.get("openai-chat-stream"))
    assert [row["choices"][0]["delta"]["content"] for row in result] == ["mail <EMAIL-1>", "", " now"]
    assert [(hit.rule, hit.length) for hit in hits] == [("email", 12)]


def test_accepted_values_stay() -> None:
    redactor = Redactor(is_allowed=lambda digest: digest == "ann@acme.dev", digest=str)
    result, hits = redactor.redact(chat("ann@acme.dev bob@acme.dev"), dialects.get("openai-chat"))
    assert result == chat("ann@acme.dev <EMAIL-1>")
    assert [hit.digest for hit in hits] == ["bob@acme.dev"]


def test_a_document_of_another_dialect_is_masked_too() -> None:
    result, _ = Redactor().redact({"any": f"x {KEY}"}, dialects.get("openai-chat"))
    assert result == {"any": "x <KEY-1>"}


@pytest.mark.parametrize(
    ("piece", "end"),
    [("+1", ""), ("a@", ""), ("a.", ""), ("-----BEGIN PRIVATE KEY-----", ""), ("eyJ", ""), ("A_", "PASSWORD"),
     ("1.", ""), ("a:", ""), ("://", ""), ("x-", "="), ("\\", ""), ('"', '"'), ("xoxb-1-", ""), ("password", "")],
)  # fmt: skip
def test_hostile_text_takes_linear_time(piece: str, end: str) -> None:
    def work(size: int) -> Steps:
        return [partial(masked, piece * (size // len(piece)) + end)]

    assert growth(work, 4_000) < MOST
