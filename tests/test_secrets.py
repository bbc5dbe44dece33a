"""Secrets never get out, and everything else stays as it is."""

import doctest
import string
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import contextui.secrets
from contextui.secrets import (
    MASK,
    StreamMask,
    mask,
    mask_arguments,
    mask_own,
    names_secret,
    own_secrets,
)

ROOT = Path(__file__).parent.parent
LETTERS = string.ascii_letters + string.digits
FORMS = [
    "ANTHROPIC_API_KEY={}",
    "export KEY={}",
    "api_key = '{}'",
    'headers={{"x-api-key": "{}"}}',
    r"{{\"token\": \"{}\"}}",
    "X-Api-Key: {}",
    "Authorization: Bearer {}",
    "'authorization': 'Bearer {}'",
    "bearer {}",
    "Set-Cookie: a=1; sid={}; Path=/",
    "run --token {} now",
    "run --api-key={}",
    'run --client-secret "{}"',
    "password={}",
    "postgres://joe:{}@db.example.org:5432/shop",
    "https://{}@github.com/joe/shop.git",
    "GET /?q=1&access_token={}&y=2",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n{}\n-----END RSA PRIVATE KEY-----",
]
CLEAN = [
    "max_tokens: 4096, tokens=1504, cost per token: 0.000015",
    "KeyError: 'name' for key='name2' and sort_key=amount_2",
    "password: str | None = None",
    "password = getpass.getpass()  # then api_key=os.environ['ANTHROPIC_API_KEY']",
    "token = next(tokens); secret=SECRET; api_key=settings.api_key",
    "contextui --api-key KEY --token TOKEN --password <yours>",
    'params="token:string,password:string?"',
    "author: joe1234, the authorization: it failed, cookie: with chocolate",
    "basic authentication, the bearer of news",
    "ssh://git@github.com/joe/shop.git and http://example.org:8080/a@b2",
    "PWD=/home/joe2/shop OLDPWD=/tmp/x1",
    "3b18e512dba79e4c8300dd08aeb37f8e728b8dad toolu_01A09q90qw90lq917835lq9",
    "f'token={token} {password!r}' \"$API_KEY\" ${SECRET_2}",
    "sk-learn-contrib ghp_ AKIA eyJ npm_config_registry",
    f"{MASK} token={MASK} --password {MASK}",
]
keys = st.text(LETTERS, min_size=12, max_size=60).filter(
    lambda key: any(one.isdigit() for one in key) and any(one.islower() for one in key)
)
words = st.text(string.ascii_lowercase + " .,\n笔", max_size=40)


def test_the_documented_example_holds() -> None:
    results = doctest.testmod(contextui.secrets)
    assert (results.attempted, results.failed) == (4, 0)


@given(keys, st.sampled_from(FORMS), words, words)
def test_no_part_of_a_secret_is_left(key: str, form: str, before: str, after: str) -> None:
    text = f"{before} {form} {after}"
    assume(not any(key[at : at + 4] in text for at in range(len(key) - 3)))
    shown = mask(text.format(key))
    assert MASK in shown
    assert not any(key[at : at + 4] in shown for at in range(len(key) - 3))
    assert shown.startswith(f"{before} {form.partition('{')[0][:1]}")
    assert mask(shown) == shown
    hidden = mask_arguments(text.format(key))
    assert not any(key[at : at + 4] in hidden for at in range(len(key) - 3))


@pytest.mark.parametrize("start", ["sk-ant-", "sk-", "ghp_", "github_pat_", "xoxb-", "AKIA", "eyJ"])
@given(st.text(LETTERS, min_size=16, max_size=60), words)
def test_a_known_kind_of_key_is_masked_anywhere(start: str, key: str, before: str) -> None:
    key = f"0{key}"
    assert mask(f"{before} {start}{key}, {before}") == f"{before} {start}{MASK}, {before}"
    assert mask(f'"{start}{key}"') == f'"{start}{MASK}"'


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANTHROPIC_API_KEY", "open sesame"),
        ("GITHUB_TOKEN", "wordwords"),
        ("MY_SECRET", "a'b\"c\\d (e)"),
        ("DB_PASSWORD", "密码密码密码密码"),
        ("db_password_2", "12345678"),
    ],
)
@pytest.mark.parametrize("text", ["say {} now", "{}{}", "x{}\n{}y", "https://x/{}"])
def test_the_programs_own_secrets_are_known_by_their_values(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, text: str
) -> None:
    line = text.replace("{}", value)
    monkeypatch.delenv(name, raising=False)
    assert value in mask(line)
    monkeypatch.setenv(name, value)
    assert mask(line) == text.replace("{}", MASK)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_KEY", "1234567"),  # too short to be looked for in everything
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("SSL_PRIVATE_KEY", "/etc/ssl/key.pem"),
        ("TOKENIZERS_PARALLELISM", "disabled"),
        ("MAX_TOKENS", "manymany"),
        ("API_KEY", ""),
    ],
)
def test_other_variables_are_not_looked_for(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    text = f"it says {value}."
    assert mask(text) is text


def test_of_two_values_the_longer_is_masked_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "sesame-street")
    monkeypatch.setenv("B_TOKEN", "open sesame-street")
    assert mask("open sesame-street, sesame-street") == f"{MASK}, {MASK}"


def test_other_text_is_the_very_same() -> None:
    for text in CLEAN:
        assert mask(text) is text, text


@given(st.text(string.ascii_letters + string.digits + " .,;!?()[]{}<>/\\\n\t笔'\""))
def test_text_that_names_no_secret_is_the_very_same(text: str) -> None:
    assume(not any(word in text.lower() for word in ("bearer", "basic", "akia", "eyj")))
    assert mask(text) is text


def test_nothing_in_programs_that_speak_of_keys_and_tokens_is_taken_for_a_secret() -> None:
    for path in [*ROOT.glob("windows/**/*.py"), *ROOT.glob("contextui/context/*.py")]:
        text = path.read_text("utf-8")
        assert mask(text) is text, path


parts = st.sampled_from(
    [*FORMS, *CLEAN, "token", "=", ":", "--password", " ", "'", '"', "\n", "@", "://", "a1b2c3d4"]
)


@given(st.lists(parts | st.text(max_size=5), max_size=8).map("".join))
def test_masking_twice_is_masking_once(text: str) -> None:
    once = mask(text)
    assert mask(once) == once
    arguments = mask_arguments(text)
    assert mask_arguments(arguments) == arguments


# --- arguments ----------------------------------------------------------------------------------


def test_arguments_are_masked_rather_too_much() -> None:
    for line, shown in (
        ("app --password open sesame now", "app --password ***"),
        ("app --auth=joe:x run", "app --auth=***"),
        ("sshpass -p hunter2 ssh host", "sshpass -p *** ssh host"),
        ("mysql -ujoe -phunter2 shop", "mysql -ujoe -p*** shop"),
        ("redis-cli -a hunter2", "redis-cli -a ***"),
        ("curl -u joe:hunter2 http://x", "curl -u joe:*** http://x"),
        ("curl https://sesame@example.org/x", "curl https://***@example.org/x"),
        ("app 0123456789abcdefhunter2", "app ***"),
    ):
        assert mask_arguments(line) == shown, line


PASSED = """\
app -token={}
env OPENAI_API_KEY={} DB_PASSWD=x node
sh -c TOKEN='{} and more'; run
java -Dkeystore.pass={} -jar a.jar
java -Dstore.passphrase={}
nginx: worker pwd: {}
app --with=0123456789abcdef{}{}
env DB_PASS={} app
app --pass {}
openssl rsa -passin pass:{} -in a
openssl enc -k {}
smbclient //host/share -U joe%{}
curl --user joe:{} http://x
curl --proxy-user joe:{} http://x
curl -ujoe:{} http://x
unzip -P {} a.zip
7z x -p{} a.7z
mosquitto_pub -u joe -P {} -t x
sqlcmd -S host -U joe -P {}
xfreerdp /u:joe /p:{} /v:host
htpasswd -nb joe {}
htpasswd -b file joe {}
aws configure set aws_secret_access_key {}
app --pin {}
app --otp={}
app --pw {}
ldapsearch -x -w {}
docker login -u joe -p {}
app passcode={}
"""
PLAIN = """\
/usr/lib/firefox/firefox -contentproc -childID 7 -isForBrowser
python3 -u -m http.server 8000 --bind 127.0.0.1
node --max-old-space-size=8192 /srv/app/server.js
/home/joe/projects/shop2/.venv/bin/python manage.py runserver
ssh -p 22 joe@example.org
postgres: checkpointer
docker run -p 8080:80 nginx
make -j8 CFLAGS=-O2 all
"""


def test_the_usual_ways_to_pass_a_secret_are_masked_and_other_arguments_are_not() -> None:
    for line in PASSED.splitlines():
        shown = mask_arguments(line.replace("{}", "hunter2"))
        assert "hunter2" not in shown, line
        assert MASK in shown, line
    for line in PLAIN.splitlines():
        assert mask_arguments(line) == line


def test_arguments_hide_the_programs_own_secrets_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "open sesame")
    assert mask_arguments("say open sesame") == "say ***"


def test_of_the_environment_alone_nothing_else_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k3y-that-nobody-may-see")
    text = "password=hunter2 and k3y-that-nobody-may-see"
    assert mask_own(text) == f"password=hunter2 and {MASK}"
    assert ("ANTHROPIC_API_KEY", "k3y-that-nobody-may-see") in own_secrets(20)
    assert mask_own(plain := "nothing") is plain


@pytest.mark.parametrize("size", [1, 2, 5, 11, 100])
def test_a_key_that_comes_in_pieces_is_masked(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-begins-and-ends-sk")
    monkeypatch.setenv("OTHER_TOKEN", "sk-begins-and")  # the beginning of the longer one
    text = "sk-begins-and-ends-sk, sk-begins-andsk-begins-and-ends-sk and sk-begins"
    masked = StreamMask()
    shown = [masked.take(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*shown, masked.rest()]) == f"{MASK}, {MASK}{MASK} and sk-begins"


def test_text_that_is_not_a_key_is_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "open sesame")
    masked = StreamMask()
    assert masked.take("The door is open") == "The door is "
    assert masked.take(" now.") == "open now."


def test_the_environment_is_searched_again_only_after_it_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[int] = []
    find = contextui.secrets._find_own

    def counted(shortest: int) -> list[tuple[str, str]]:
        searched.append(shortest)
        return find(shortest)

    monkeypatch.setattr(contextui.secrets, "_find_own", counted)
    for value in ("first-value-of-it", "second-value-of-it"):
        monkeypatch.setenv("SOME_TOKEN", value)
        for _ in range(3):
            assert mask_own(f"It is {value}.") == f"It is {MASK}."
    assert len(searched) == 2
    monkeypatch.delenv("SOME_TOKEN")
    assert mask_own("second-value-of-it") == "second-value-of-it"


def test_words_that_name_a_secret() -> None:
    for words, is_secret in (
        ("password", True),
        ("Your password, please", True),
        ("API key", True),
        ("apiKey", True),
        ("X-Api-Key", True),
        ("GITHUB_TOKEN", True),
        ("client_secret", True),
        ("PIN", True),
        ("One-time code (OTP)", True),
        ("登录密码", True),
        ("Cookie", True),
        ("name", False),
        ("max_tokens", False),
        ("tokenizer", False),
        ("keyboard", False),
        ("pinned", False),
        ("Shipping address", False),
    ):
        assert names_secret(words) is is_secret, words
