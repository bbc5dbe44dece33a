"""Outlines name what is declared, and not what only looks like it."""

import doctest
import re

from hypothesis import given, settings
from hypothesis import strategies as st

import contextui.files.outline
from contextui.files.outline import outline
from contextui.files.syntax import SYNTAXES, language_of
from tests.thorough import times

# Each line that declares something names its entry after the arrow.
SAMPLES = {
    "a.js": r"""// function no() {}
import x from "y";
export default class Foo extends Bar { ⇒ class Foo
  static #count = 0;
  constructor(a) { super(); if (a) { call(b); } } ⇒   method constructor
  async load(url) { ⇒   method load
    const inner = () => 1;
    for (const x of y) { z(x); }
  }
  get size() { return 1; } ⇒   method size
  handler = async (e) => { }; ⇒   method handler
}
function* gen(a, b) { ⇒ function gen
  function hidden() {}
}
export const arrow = async (a) => { ⇒ function arrow
  return `function notme() {`;
};
const re = /function fake\(\) {/g;
const single = x => x * 2; ⇒ function single
let notfn = 5;
/* class Commented {} */
export async function last() {} ⇒ function last
module.exports = { gen };
""",
    "a.ts": """\
export interface Shape { area(): number; } ⇒ interface Shape
export type Id<T> = string | T; ⇒ type Id
enum Color { Red, Green } ⇒ enum Color
namespace App.Util { ⇒ namespace App.Util
  export function help<T>(x: T): T { return x; } ⇒   function help
}
export abstract class Circle<T> implements Shape { ⇒ class Circle
  private readonly r: number = 1;
  constructor(private x: number) {} ⇒   method constructor
  public area(): number { return Math.PI; } ⇒   method area
  protected abstract draw(ctx: Ctx): void; ⇒   method draw
  static make = (r: number): Circle => new Circle(r); ⇒   method make
}
export const f = (a: string, cb: (x: number) => void): void => {}; ⇒ function f
declare function ambient(a: number): void; ⇒ function ambient
""",
    "a.go": """\
package main
// func no() {}
import "fmt"
type (
	Point struct { X, Y int } ⇒ struct Point
)
type Reader interface { ⇒ interface Reader
	Read(p []byte) (int, error)
}
type ID string ⇒ type ID
type List[T any] struct { head *T } ⇒ struct List
func main() { ⇒ function main
	s := `func fake() {`
	f := func() { }
	fmt.Println(s, '{')
}
func (p *Point) Move(dx int) error { ⇒ method Move
	return nil
}
func Map[T any](x []T) []T { return x } ⇒ function Map
""",
    "a.rs": """\
//! doc fn no()
use std::fmt;
mod inner { ⇒ module inner
    pub fn helper() {} ⇒   function helper
}
pub struct Point<'a> { x: &'a str } ⇒ struct Point
#[derive(Debug)]
pub(crate) enum Kind { A, B(char) } ⇒ enum Kind
pub trait Draw { fn draw(&self); fn twice(&self) { self.draw() } } ⇒ trait Draw
impl<'a> Draw for Point<'a> { ⇒ impl Draw for Point<'a>
    fn draw(&self) { let c = '{'; let s = r#"fn fake() {"#; } ⇒   method draw
}
impl Point<'_> { ⇒ impl Point<'_>
    pub const fn new() -> Self { todo!() } ⇒   method new
    pub async unsafe fn danger() {} ⇒   method danger
}
macro_rules! square { ($x:expr) => { $x * $x } } ⇒ macro square
type Alias = u32; ⇒ type Alias
fn main() { fn nested() {} } ⇒ function main
""",
    "A.java": """\
package a;
/** class No {} */
@Deprecated
public final class Main extends Base implements I { ⇒ class Main
    private int count = 0;
    public Main(int x) { super(x); } ⇒   method Main
    @Override public String toString() { return "class Fake {"; } ⇒   method toString
    static <T> List<T> of(T... xs) { ⇒   method of
        if (x) { foo(); }
        return null;
    }
    abstract void draw(int a); ⇒   method draw
    enum Color { RED, GREEN; void paint() {} } ⇒   enum Color
    interface Shape { double area(); } ⇒   interface Shape
    record Pair(int a, int b) {} ⇒   record Pair
}
@interface Marker {} ⇒ annotation Marker
""",
    "a.c": """\
#include <stdio.h>
#define FOO(x) do { x } while (0)
/* int no(void) {} */
struct point { int x; int y; }; ⇒ struct point
typedef enum color { RED, GREEN } color_t; ⇒ enum color
static int helper(int a, char *b);
static int helper(int a, char *b) { ⇒ function helper
    if (a) { return printf("int fake(void) {"); }
    for (int i = 0; i < 3; i++) { }
    return 0;
}
const char *
name_of(int x)
{
    return "}";
}
int main(int argc, char **argv) ⇒ function main
{
    return helper(1, 0);
}
""",
    "a.cpp": """\
#include <x>
namespace app { ⇒ namespace app
template <typename T>
class Stack : public Base { ⇒   class Stack
public:
    explicit Stack(int n) : n_(n) {} ⇒     method Stack
    ~Stack() {} ⇒     method ~Stack
    void push(const T& x) { items.push_back(x); } ⇒     method push
    T pop(); ⇒     method pop
private:
    int n_ = 1'000;
};
struct P { int x; }; ⇒   struct P
enum class Color { Red }; ⇒   enum Color
}
int app::Foo::bar(int x) const { ⇒ function app::Foo::bar
    auto s = R"(int fake() {)";
    return x;
}
Foo::Foo() { ⇒ function Foo::Foo
}
int main() { return 0; } ⇒ function main
""",
    "a.rb": """\
# class No
module App ⇒ module App
  class Foo < Bar ⇒   class Foo
    attr_reader :x
    def initialize(x) ⇒     method initialize
      @x = x
    end
    def self.make; new(1); end ⇒     method self.make
    def ok? ⇒     method ok?
      if x
        true
      end
    end
    private def hidden=(v) ⇒     method hidden=
    end
    def ==(other) ⇒     method ==
      "def fake"
    end
  end
end
=begin
def no
end
=end
def top(a) ⇒ function top
  text = <<~EOS
    def fake
  EOS
end
""",
    "a.php": r"""<html> function no() {}
<?php
namespace App\Models; ⇒ namespace App\Models
# function no2() {}
abstract class User extends Model implements A { ⇒ class User
    public function __construct(private int $x) {} ⇒   method __construct
    protected static function find(int $id): ?self { ⇒   method find
        $f = function () { };
        return null;
    }
}
interface HasName { public function name(): string; } ⇒ interface HasName
trait Loud { function shout() { echo "function fake() {"; } } ⇒ trait Loud
enum Suit: string { case A = 'a'; } ⇒ enum Suit
function helper(&$x) { return <<<EOT ⇒ function helper
function fake() {
EOT;
}
?>
<p>function no3() {}</p>
""",
    "a.sh": """\
#!/bin/bash
# no() {
greet() { ⇒ function greet
  echo "function fake() {"
  local x=${#arr[@]}
}
function deploy-all { ⇒ function deploy-all
  cat <<EOF
fake() {
EOF
}
function both() { :; } ⇒ function both
if [ "$1" = x ]; then greet; fi
""",
    "a.md": """\
# Title # ⇒ heading Title
text
## Sub *x* ⇒   heading Sub *x*
```python
# not a heading
```
~~~
## nor this
```
~~~
Setext one ⇒ heading Setext one
===
Two ⇒   heading Two lines
lines
---
- item
---
#nospace
    # code
####### seven
### ⇒     heading
""",
    "bad.py": """\
class A: ⇒ class A
    def b(self): ⇒   method b
        def inner(): pass
    async def c(self): pass ⇒   method c
def d(: ⇒ function d
""",
    "ok.py": """\
import x
class A: ⇒ class A
    #def no#
    async def b(self): ⇒   method b
        def inner(): pass
    class C: ⇒   class C
        def d(self): ... ⇒     method d
    if x:
        def e(self): ... ⇒   method e
try:
    def f(): ... ⇒ function f
except E:
    def g(): ... ⇒ function g
@deco
def h(): ... ⇒ function h
""",
}


def test_documented_examples_hold() -> None:
    assert doctest.testmod(contextui.files.outline).failed == 0


def test_what_is_declared_is_found() -> None:
    for name, marked in SAMPLES.items():
        expected = re.findall(r" ⇒ (.*)", marked)
        text = re.sub(r" ⇒ .*", "", marked)
        for end in ("\n", "\r\n", "\r"):
            entries = outline(name, text.replace("\n", end))
            drawn = [f"{'  ' * one.depth}{one.kind} {one.name}".rstrip() for one in entries]
            assert drawn == expected, (name, end)
            lines = marked.split("\n")
            assert all(" ⇒ " in lines[one.line - 1] for one in entries), (name, end)


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
