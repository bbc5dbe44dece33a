"""Outlines name what is declared, and not what only looks like it."""

import doctest

from hypothesis import given, settings
from hypothesis import strategies as st

import contextui.files.outline
from contextui.files.outline import outline
from contextui.files.syntax import SYNTAXES, language_of
from tests.thorough import times

SAMPLES = {
    "a.js": r"""// function no() {}
import x from "y";
export default class Foo extends Bar {
  static #count = 0;
  constructor(a) { super(); if (a) { call(b); } }
  async load(url) {
    const inner = () => 1;
    for (const x of y) { z(x); }
  }
  get size() { return 1; }
  handler = async (e) => { };
}
function* gen(a, b) {
  function hidden() {}
}
export const arrow = async (a) => {
  return `function notme() {`;
};
const re = /function fake\(\) {/g;
const single = x => x * 2;
let notfn = 5;
/* class Commented {} */
export async function last() {}
module.exports = { gen };
""",
    "a.ts": """\
export interface Shape { area(): number; }
export type Id<T> = string | T;
enum Color { Red, Green }
namespace App.Util {
  export function help<T>(x: T): T { return x; }
}
export abstract class Circle<T> implements Shape {
  private readonly r: number = 1;
  constructor(private x: number) {}
  public area(): number { return Math.PI; }
  protected abstract draw(ctx: Ctx): void;
  static make = (r: number): Circle => new Circle(r);
}
export const f = (a: string, cb: (x: number) => void): void => {};
declare function ambient(a: number): void;
""",
    "a.go": """\
package main
// func no() {}
import "fmt"
type (
	Point struct { X, Y int }
)
type Reader interface {
	Read(p []byte) (int, error)
}
type ID string
type List[T any] struct { head *T }
func main() {
	s := `func fake() {`
	f := func() { }
	fmt.Println(s, '{')
}
func (p *Point) Move(dx int) error {
	return nil
}
func Map[T any](x []T) []T { return x }
""",
    "a.rs": """\
//! doc fn no()
use std::fmt;
mod inner {
    pub fn helper() {}
}
pub struct Point<'a> { x: &'a str }
#[derive(Debug)]
pub(crate) enum Kind { A, B(char) }
pub trait Draw { fn draw(&self); fn twice(&self) { self.draw() } }
impl<'a> Draw for Point<'a> {
    fn draw(&self) { let c = '{'; let s = r#"fn fake() {"#; }
}
impl Point<'_> {
    pub const fn new() -> Self { todo!() }
    pub async unsafe fn danger() {}
}
macro_rules! square { ($x:expr) => { $x * $x } }
type Alias = u32;
fn main() { fn nested() {} }
""",
    "A.java": """\
package a;
/** class No {} */
@Deprecated
public final class Main extends Base implements I {
    private int count = 0;
    public Main(int x) { super(x); }
    @Override public String toString() { return "class Fake {"; }
    static <T> List<T> of(T... xs) {
        if (x) { foo(); }
        return null;
    }
    abstract void draw(int a);
    enum Color { RED, GREEN; void paint() {} }
    interface Shape { double area(); }
    record Pair(int a, int b) {}
}
@interface Marker {}
""",
    "a.c": """\
#include <stdio.h>
#define FOO(x) do { x } while (0)
/* int no(void) {} */
struct point { int x; int y; };
typedef enum color { RED, GREEN } color_t;
static int helper(int a, char *b);
static int helper(int a, char *b) {
    if (a) { return printf("int fake(void) {"); }
    for (int i = 0; i < 3; i++) { }
    return 0;
}
const char *
name_of(int x)
{
    return "}";
}
int main(int argc, char **argv)
{
    return helper(1, 0);
}
""",
    "a.cpp": """\
#include <x>
namespace app {
template <typename T>
class Stack : public Base {
public:
    explicit Stack(int n) : n_(n) {}
    ~Stack() {}
    void push(const T& x) { items.push_back(x); }
    T pop();
private:
    int n_ = 1'000;
};
struct P { int x; };
enum class Color { Red };
}
int app::Foo::bar(int x) const {
    auto s = R"(int fake() {)";
    return x;
}
Foo::Foo() {
}
int main() { return 0; }
""",
    "a.rb": """\
# class No
module App
  class Foo < Bar
    attr_reader :x
    def initialize(x)
      @x = x
    end
    def self.make; new(1); end
    def ok?
      if x
        true
      end
    end
    private def hidden=(v)
    end
    def ==(other)
      "def fake"
    end
  end
end
=begin
def no
end
=end
def top(a)
  text = <<~EOS
    def fake
  EOS
end
""",
    "a.php": r"""<html> function no() {}
<?php
namespace App\Models;
# function no2() {}
abstract class User extends Model implements A {
    public function __construct(private int $x) {}
    protected static function find(int $id): ?self {
        $f = function () { };
        return null;
    }
}
interface HasName { public function name(): string; }
trait Loud { function shout() { echo "function fake() {"; } }
enum Suit: string { case A = 'a'; }
function helper(&$x) { return <<<EOT
function fake() {
EOT;
}
?>
<p>function no3() {}</p>
""",
    "a.sh": """\
#!/bin/bash
# no() {
greet() {
  echo "function fake() {"
  local x=${#arr[@]}
}
function deploy-all {
  cat <<EOF
fake() {
EOF
}
function both() { :; }
if [ "$1" = x ]; then greet; fi
""",
    "a.md": """\
# Title #
text
## Sub *x*
```python
# not a heading
```
~~~
## nor this
```
~~~
Setext one
===
Two
lines
---
- item
---
#nospace
    # code
####### seven
###
""",
    "bad.py": """\
class A:
    def b(self):
        def inner(): pass
    async def c(self): pass
def d(:
""",
    "ok.py": """\
import x
class A:
    #def no#
    async def b(self):
        def inner(): pass
    class C:
        def d(self): ...
    if x:
        def e(self): ...
try:
    def f(): ...
except E:
    def g(): ...
@deco
def h(): ...
""",
}

EXPECTED = {
    "a.js": [
        "class Foo 3",
        "  method constructor 5",
        "  method load 6",
        "  method size 10",
        "  method handler 11",
        "function gen 13",
        "function arrow 16",
        "function single 20",
        "function last 23",
    ],
    "a.ts": [
        "interface Shape 1",
        "type Id 2",
        "enum Color 3",
        "namespace App.Util 4",
        "  function help 5",
        "class Circle 7",
        "  method constructor 9",
        "  method area 10",
        "  method draw 11",
        "  method make 12",
        "function f 14",
        "function ambient 15",
    ],
    "a.go": [
        "struct Point 5",
        "interface Reader 7",
        "type ID 10",
        "struct List 11",
        "function main 12",
        "method Move 17",
        "function Map 20",
    ],
    "a.rs": [
        "module inner 3",
        "  function helper 4",
        "struct Point 6",
        "enum Kind 8",
        "trait Draw 9",
        "impl Draw for Point<'a> 10",
        "  method draw 11",
        "impl Point<'_> 13",
        "  method new 14",
        "  method danger 15",
        "macro square 17",
        "type Alias 18",
        "function main 19",
    ],
    "A.java": [
        "class Main 4",
        "  method Main 6",
        "  method toString 7",
        "  method of 8",
        "  method draw 12",
        "  enum Color 13",
        "  interface Shape 14",
        "  record Pair 15",
        "annotation Marker 17",
    ],
    "a.c": ["struct point 4", "enum color 5", "function helper 7", "function main 17"],
    "a.cpp": [
        "namespace app 2",
        "  class Stack 4",
        "    method Stack 6",
        "    method ~Stack 7",
        "    method push 8",
        "    method pop 9",
        "  struct P 13",
        "  enum Color 14",
        "function app::Foo::bar 16",
        "function Foo::Foo 20",
        "function main 22",
    ],
    "a.rb": [
        "module App 2",
        "  class Foo 3",
        "    method initialize 5",
        "    method self.make 8",
        "    method ok? 9",
        "    method hidden= 14",
        "    method == 16",
        "function top 25",
    ],
    "a.php": [
        "namespace App\\Models 3",
        "class User 5",
        "  method __construct 6",
        "  method find 7",
        "interface HasName 12",
        "trait Loud 13",
        "enum Suit 14",
        "function helper 15",
    ],
    "a.sh": ["function greet 3", "function deploy-all 7", "function both 12"],
    "a.md": [
        "heading Title 1",
        "  heading Sub *x* 3",
        "heading Setext one 11",
        "  heading Two lines 13",
        "    heading  21",
    ],
    "bad.py": ["class A 1", "  method b 2", "  method c 4", "function d 5"],
    "ok.py": [
        "class A 2",
        "  method b 4",
        "  class C 6",
        "    method d 7",
        "  method e 9",
        "function f 11",
        "function g 13",
        "function h 15",
    ],
}


def drawn(name: str, text: str) -> list[str]:
    return [
        f"{'  ' * entry.depth}{entry.kind} {entry.name} {entry.line}"
        for entry in outline(name, text)
    ]


def test_documented_examples_hold() -> None:
    assert doctest.testmod(contextui.files.outline).failed == 0


def test_what_is_declared_is_found() -> None:
    for end in ("\n", "\r\n", "\r"):
        for name, text in SAMPLES.items():
            assert drawn(name, text.replace("\n", end)) == EXPECTED[name], (name, end)


def test_a_file_name_gives_the_language() -> None:
    for name, language in (
        ("a.py", "python"),
        ("src/App.TSX", "typescript"),
        ("x.tar.rb", "ruby"),
        ("Makefile", "make"),
        ("a/.bashrc", "shell"),
        ("README", None),
        ("", None),
        ("data.csv", None),
    ):
        assert language_of(name) == language, name


def test_what_has_no_outline_gives_an_empty_one() -> None:
    assert outline("data.json", "{}") == []
    assert outline("unknown", "def f(): ...") == []


@given(
    st.sampled_from([*SAMPLES, "x.c"]),
    st.text(st.sampled_from("{}()<>;:=\"'`/*#\n ab\\_[]$?!"), max_size=200),
)
@settings(max_examples=times(200, 2_000))
def test_any_text_has_an_outline(name: str, text: str) -> None:
    for entry in outline(name, text):
        assert 1 <= entry.line <= text.count("\n") + text.count("\r") + 1
        assert entry.depth >= 0


HOSTILE = [
    ("a.py", "-" * 100_000),
    ("a.py", "(" * 100_000),
    ("a.py", "if x: pass\n" + "elif y: pass\n" * 5_000 + "def f(): ...\n"),
    ("a.js", "=/[" * 20_000),
    ("a.js", "class A {\n" * 5_000),
    ("a.rb", "<<~A\n" * 5_000),
    ("a.sh", "<<A" * 10_000),
    ("a.cpp", ("a<b> " * 190 + "\n") * 20),
    ("a.java", ("@a(b) " * 160 + "\n") * 20),
    ("a.c", "/*" * 50_000),
    ("a.go", "{" * 100_000),
]


def test_a_hostile_text_ends() -> None:
    """Each would keep an unbounded search, or a parser without limits, busy or break it."""
    for name, text in HOSTILE:
        assert len(outline(name, text)) <= 20, name


def test_all_scanned_languages_have_a_sample() -> None:
    assert {language_of(name) for name in SAMPLES} == {*SYNTAXES, "python", "markdown"}
