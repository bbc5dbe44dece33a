"""What people say, and what must hold after it: written without looking at the grammar.

`g` gives a window by its id, `a` is the last answer. One case to a line.
"""

# ruff: noqa: E501

from collections.abc import Callable
from typing import Any, NamedTuple

from contextui import Window
from tests.agent.models.offline.more_strangers import FLAT, HOME, LEISURE

Opened = tuple[str, dict[str, Any]]
Acted = tuple[str, str, dict[str, Any]]


class Said(NamedTuple):
    """Words, one string a turn, and what must hold in the end; what was there before."""

    words: tuple[str, ...]
    holds: Callable[[Callable[[str], Any], str], object]
    classes: tuple[type[Window], ...]
    opened: tuple[Opened, ...] = ()
    files: dict[str, str] = {}
    acts: tuple[Acted, ...] = ()


def todo(*texts: str) -> Opened:
    return "todo", {"items": list(texts)}


def texts(window: Any) -> list[str]:
    return [item.text for item in window.state.items]


def done(window: Any) -> list[bool]:
    return [item.done for item in window.state.items]


def items(window: Any) -> list[tuple[str, bool]]:
    return list(zip(texts(window), done(window), strict=True))


def text_of(window: Any, path: str) -> str:
    return str(window.env.workspace.open_text(path).file.text)


def entries(window: Any) -> list[tuple[str, list[str]]]:
    return [(entry.text, entry.tags) for entry in window.state.entries]


ALPHA = {"a.txt": "alpha\nbeta\ngamma\n"}
SUM = {"sum.py": "x = sum(items)\ny = x + x\n"}
SOURCE = {"src/app.py": "import os\n", "src/util/x.py": "y=1\n", "readme.md": "hello os\n"}
POEM = {
    "poem.txt": "roses are red\nviolets are blue\nsugar is sweet\n",
    "cfg.yml": "port: 80\nhost: a\n",
}
PLAN = {"notes/plan.md": "# Plan\n- one\n- two\n", "log.txt": "a\nb\nc\nd\n"}
PLANTS: tuple[Opened, ...] = (("plants", {"names": ["fern", "cactus", "palm"]}),)
MUSIC: tuple[Opened, ...] = (("music", {"songs": ["青花瓷", "晴天", "稻香"]}),)
READING: tuple[Opened, ...] = (("reading", {"titles": ["Dune", "Emma", "Momo"]}),)
GUESTS: tuple[Opened, ...] = (("guests", {"names": ["Mia", "Tom", "Ravi"]}),)
BLINDS: tuple[Opened, ...] = (("blinds", {"rooms": ["kitchen", "office", "bath"]}),)
STOCK: tuple[Opened, ...] = (("stock", {"items": ["螺丝", "灯泡"]}),)

SAID = (
    # with home
    Said(('hey can you start a packing list: socks, shirts, toothpaste',), lambda g, a: items(g('todo_1')) == [('socks', False), ('shirts', False), ('toothpaste', False)], HOME),
    Said(("I've finished the laundry. Also, add ironing to the list please",), lambda g, a: items(g('todo_1')) == [('laundry', True), ('dishes', False), ('ironing', False)], HOME, opened=(todo('laundry', 'dishes'),)),
    Said(("swap the first item for 'oat milk'",), lambda g, a: items(g('todo_1'))[0][0] == 'oat milk', HOME, opened=(todo('milk', 'eggs'),)),
    Said(('the third one should come first',), lambda g, a: texts(g('todo_1')) == ['c', 'a', 'b'], HOME, opened=(todo('a', 'b', 'c'),)),
    Said(('what was the second thing on my list again?',), lambda g, a: 'eggs' in a and 'milk' not in a, HOME, opened=(todo('milk', 'eggs'),)),
    Said(('uncheck milk',), lambda g, a: items(g('todo_1'))[0] == ('milk', False), HOME, opened=(todo('milk', 'eggs'),), acts=(('todo_1', 'done', {'item': 1}),)),
    Said(('how many things do I still have to do?',), lambda g, a: '2' in a, HOME, opened=(todo('a', 'b', 'c'),), acts=(('todo_1', 'done', {'item': 1}),)),
    Said(("please put 'call the plumber' and 'pay rent' on my todo list, then tick off groceries",), lambda g, a: items(g('todo_1')) == [('groceries', True), ('call the plumber', False), ('pay rent', False)], HOME, opened=(todo('groceries'),)),
    Said(('drop everything that is finished',), lambda g, a: items(g('todo_1')) == [('b', False)], HOME, opened=(todo('a', 'b'),), acts=(('todo_1', 'done', {'item': 1}),)),
    Said(('start a list with bread', 'and another list with nails and a hammer', 'put screws on the second list',), lambda g, a: texts(g('todo_2')) == ['nails', 'hammer', 'screws'] and texts(g('todo_1')) == ['bread'], HOME),
    Said(('给我列个清单：袜子、衬衫、牙膏',), lambda g, a: texts(g('todo_1')) == ['袜子', '衬衫', '牙膏'], HOME),
    Said(('买菜这项做完了，另外加一项洗车',), lambda g, a: items(g('todo_1')) == [('买菜', True), ('做饭', False), ('洗车', False)], HOME, opened=(todo('买菜', '做饭'),)),
    Said(('把最后一个挪到第一位',), lambda g, a: texts(g('todo_1')) == ['丙', '甲', '乙'], HOME, opened=(todo('甲', '乙', '丙'),)),
    Said(('清单里一共有几项？',), lambda g, a: '3' in a, HOME, opened=(todo('甲', '乙', '丙'),)),
    Said(('把“交房租”改成“交房租和水费”',), lambda g, a: items(g('todo_1'))[0][0] == '交房租和水费', HOME, opened=(todo('交房租', '买米'),)),
    Said(('第一个和第三个都完成了',), lambda g, a: done(g('todo_1')) == [True, False, True], HOME, opened=(todo('甲', '乙', '丙'),)),
    Said(('牛奶不用买了，从清单里去掉吧',), lambda g, a: texts(g('todo_1')) == ['鸡蛋'], HOME, opened=(todo('牛奶', '鸡蛋'),)),
    Said(('关掉待办清单，打开笔记本',), lambda g, a: g('todo_1') is None and g('notebook_1') is not None, HOME, opened=(todo('甲'),)),
    Said(('open a.txt, replace beta with delta and save',), lambda g, a: text_of(g('editor_1'), 'a.txt') == 'alpha\ndelta\ngamma\n', HOME, files=ALPHA),
    Said(('remove the second line',), lambda g, a: 'beta' not in g('editor_1').snapshot().content, HOME, opened=(('editor', {'path': 'a.txt'}),), files=ALPHA),
    Said(('add a line "omega" at the end of the file and save it',), lambda g, a: text_of(g('editor_1'), 'a.txt') == 'alpha\nbeta\ngamma\nomega\n', HOME, opened=(('editor', {'path': 'a.txt'}),), files=ALPHA),
    Said(('change sum(items) to sum(items, 0) and save it',), lambda g, a: text_of(g('editor_1'), 'sum.py') == 'x = sum(items, 0)\ny = x + x\n', HOME, opened=(('editor', {'path': 'sum.py'}),), files=SUM),
    Said(('把 sum(items) 改成 sum(items, 0)，再保存',), lambda g, a: text_of(g('editor_1'), 'sum.py') == 'x = sum(items, 0)\ny = x + x\n', HOME, opened=(('editor', {'path': 'sum.py'}),), files=SUM),
    Said(('把 sum(items) 改成 sum(items, 0)，再保存',), lambda g, a: text_of(g('editor_1'), 'sum.py') == 'x = sum(items, 0)\ny = x + x\n', FLAT, opened=(('editor', {'path': 'sum.py'}), todo('甲')), files=SUM),
    Said(('change the word alpha to omega',), lambda g, a: 'omega' in g('editor_1').snapshot().content and texts(g('todo_1')) == ['beta test'], FLAT, opened=(('editor', {'path': 'a.txt'}), todo('beta test')), files=ALPHA),
    Said(('replace x with z everywhere', 'save'), lambda g, a: text_of(g('editor_1'), 'sum.py') == 'z = sum(items)\ny = z + z\n', HOME, opened=(('editor', {'path': 'sum.py'}),), files=SUM),
    Said(('replace all occurrences of x with z', 'save'), lambda g, a: text_of(g('editor_1'), 'sum.py') == 'z = sum(items)\ny = z + z\n', HOME, opened=(('editor', {'path': 'sum.py'}),), files=SUM),
    Said(('把 x 全部改成 z', '保存'), lambda g, a: text_of(g('editor_1'), 'sum.py') == 'z = sum(items)\ny = z + z\n', HOME, opened=(('editor', {'path': 'sum.py'}),), files=SUM),
    Said(('还有几样没买？',), lambda g, a: '2 项' in a, FLAT, opened=(todo('苹果', '酸奶'),)),
    Said(('where does gamma occur? find it in the editor',), lambda g, a: g('editor_1').state.line == 3, HOME, opened=(('editor', {'path': 'a.txt'}),), files=ALPHA),
    Said(('把第一行换成“你好”，然后保存',), lambda g, a: text_of(g('editor_1'), 'a.txt') == '你好\nbeta\ngamma\n', HOME, opened=(('editor', {'path': 'a.txt'}),), files=ALPHA),
    Said(('在文件开头插入一行“标题”',), lambda g, a: '1 标题' in g('editor_1').snapshot().content, HOME, opened=(('editor', {'path': 'a.txt'}),), files=ALPHA),
    Said(('撤销刚才的修改',), lambda g, a: not g('editor_1').state.edits, HOME, opened=(('editor', {'path': 'a.txt'}),), files=ALPHA, acts=(('editor_1', 'replace', {'old': 'beta', 'new': 'x'}),)),
    Said(('what does a.txt say?',), lambda g, a: 'gamma' in a, HOME, files=ALPHA),
    Said(('make a new file called todo.md and write "# Plan" in it',), lambda g, a: '# Plan' in g('editor_1').snapshot().content and g('editor_1').state.path == 'todo.md', HOME),
    Said(('show me my files and open up src',), lambda g, a: g('files_1').state.expanded == ['src'], HOME, files=SOURCE),
    Said(('look for the word os in the files',), lambda g, a: len(g('files_1').state.found) == 2, HOME, opened=(('files', {}),), files=SOURCE),
    Said(('列出文件，然后展开 src 文件夹',), lambda g, a: g('files_1').state.expanded == ['src'], HOME, files=SOURCE),
    Said(('在文件里搜索 hello',), lambda g, a: len(g('files_1').state.found) == 1, HOME, opened=(('files', {}),), files=SOURCE),
    Said(('how is my computer doing? check every 3 seconds',), lambda g, a: g('monitor_1').state.seconds == 3, HOME),
    Said(('监控改成每分钟采样一次',), lambda g, a: g('monitor_1').state.seconds == 60, HOME, opened=(('monitor', {}),)),
    Said(('显示占用内存最多的三个进程',), lambda g, a: g('monitor_1').state.count == 3 and g('monitor_1').state.by == 'memory', HOME, opened=(('monitor', {}),)),
    Said(('继续采样',), lambda g, a: not g('monitor_1').state.paused, HOME, opened=(('monitor', {}),), acts=(('monitor_1', 'pause', {}),)),
    Said(('write a note: the spare key is under the pot. Tag it home',), lambda g, a: entries(g('notebook_1')) == [('the spare key is under the pot', ['home'])], HOME),
    Said(('remove the tag home from the first note',), lambda g, a: g('notebook_1').state.entries[0].tags == [], HOME, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': 'x', 'tags': ['home']}),)),
    Said(('记下来：车位是B12',), lambda g, a: [e.text for e in g('notebook_1').state.entries] == ['车位是B12'], HOME, opened=(('notebook', {}),)),
    Said(('把第一条笔记删了',), lambda g, a: [e.text for e in g('notebook_1').state.entries] == ['乙'], HOME, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': '甲'}), ('notebook_1', 'write', {'text': '乙'}),)),
    Said(('search my notes for ferry',), lambda g, a: 'ferry' in a, HOME, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': 'the ferry leaves at 7'}), ('notebook_1', 'write', {'text': 'zzz'}),)),
    Said(('water the fern and the palm',), lambda g, a: g('plants_1').state.plants == {'fern': 1, 'cactus': 0, 'palm': 1}, HOME, opened=PLANTS),
    Said(('all the plants need water',), lambda g, a: set(g('plants_1').state.plants.values()) == {1}, HOME, opened=PLANTS),
    Said(('the cactus goes to my neighbour, give it away',), lambda g, a: 'cactus' not in g('plants_1').state.plants, HOME, opened=PLANTS),
    Said(('给仙人掌浇水',), lambda g, a: g('plants_1').state.plants['仙人掌'] == 1, HOME, opened=(('plants', {'names': ['仙人掌', '绿萝']}),)),
    Said(("I spent 12.50 on lunch, that's food",), lambda g, a: g('expenses_1').state.rows == [(12.5, 'lunch', 'food')], HOME, opened=(('expenses', {}),)),
    Said(('note an expense of 40 for train tickets under travel',), lambda g, a: g('expenses_1').state.rows == [(40, 'train tickets', 'travel')], HOME, opened=(('expenses', {}),)),
    Said(('set the budget to five hundred and switch to USD',), lambda g, a: g('expenses_1').state.limit == 500 and g('expenses_1').state.currency == 'USD', HOME, opened=(('expenses', {}),)),
    Said(('delete the last expense',), lambda g, a: len(g('expenses_1').state.rows) == 1, HOME, opened=(('expenses', {}),), acts=(('expenses_1', 'spend', {'amount': 1, 'what': 'a'}), ('expenses_1', 'spend', {'amount': 2, 'what': 'b'}),)),
    Said(('播放晴天，音量调到30',), lambda g, a: g('music_1').state.playing == '晴天' and g('music_1').state.volume == 30, HOME, opened=MUSIC),
    Said(('放第三首歌',), lambda g, a: g('music_1').state.playing == '稻香', HOME, opened=MUSIC),
    Said(('把《七里香》加到列表里，再打开随机播放',), lambda g, a: '七里香' in g('music_1').state.songs and g('music_1').state.shuffle, HOME, opened=MUSIC),
    Said(('别放了，停下来',), lambda g, a: g('music_1').state.playing == '', HOME, opened=MUSIC, acts=(('music_1', 'play', {'song': '晴天'}),)),
    Said(('set an alarm for 22:30 called bedtime',), lambda g, a: g('alarm_1').state.alarms == [('22:30', 'bedtime')], HOME, opened=(('alarm', {}),)),
    Said(('snooze for 5 minutes',), lambda g, a: g('alarm_1').state.snoozed == 5, HOME, opened=(('alarm', {}),)),
    Said(('取消第一个闹钟',), lambda g, a: g('alarm_1').state.alarms == [], HOME, opened=(('alarm', {}),), acts=(('alarm_1', 'set', {'time': '7:00'}),)),
    Said(('book me a table for two tonight',), lambda g, a: 'cannot' in a.lower() and items(g('todo_1')) == [('a', False)], HOME, opened=(todo('a'),)),
    Said(('translate this list into French',), lambda g, a: 'cannot' in a.lower() and items(g('todo_1')) == [('a', False)], HOME, opened=(todo('a'),)),
    Said(('今天天气怎么样',), lambda g, a: any(x in a for x in ('无法', '没有告诉', '不能')), HOME, opened=(todo('甲'),)),
    Said(('what can you do?',), lambda g, a: 'todo' in a and 'notebook' in a, HOME),
    Said(('close everything except the notebook',), lambda g, a: g('notebook_1') and (not g('todo_1')) and (not g('monitor_1')), HOME, opened=(todo('a'), ('notebook', {}), ('monitor', {}),)),
    Said(('把两个清单都关掉',), lambda g, a: g('notebook_1') and (not g('todo_1')) and (not g('todo_2')), HOME, opened=(todo('甲'), todo('乙'), ('notebook', {}),)),
    Said(('close the one with the nails',), lambda g, a: g('todo_1') and (not g('todo_2')), HOME, opened=(todo('milk'), todo('nails'),)),
    # with leisure
    Said(("let's make a list for the trip: tent, stove and sleeping bags",), lambda g, a: texts(g('todo_1')) == ['tent', 'stove', 'sleeping bags'], LEISURE),
    Said(('would you mind adding coffee and tea to the list?',), lambda g, a: texts(g('todo_1')) == ['milk', 'coffee', 'tea'], LEISURE, opened=(todo('milk'),)),
    Said(('okay the dentist is done, and the bank too',), lambda g, a: items(g('todo_1')) == [('dentist', True), ('bank', True), ('gym', False)], LEISURE, opened=(todo('dentist', 'bank', 'gym'),)),
    Said(("Actually I don't need the eggs any more.",), lambda g, a: texts(g('todo_1')) == ['milk'], LEISURE, opened=(todo('milk', 'eggs'),)),
    Said(('make the first item read "whole milk"',), lambda g, a: texts(g('todo_1')) == ['whole milk', 'eggs'], LEISURE, opened=(todo('milk', 'eggs'),)),
    Said(('add a task to call Peter tomorrow',), lambda g, a: texts(g('todo_1'))[-1] in ('call Peter tomorrow',), LEISURE, opened=(todo('a'),)),
    Said(("what's on the list?", 'tick the second one', 'now delete it',), lambda g, a: items(g('todo_1')) == [('a', False), ('c', False)], LEISURE, opened=(todo('a', 'b', 'c'),)),
    Said(('move milk below eggs',), lambda g, a: texts(g('todo_1')) == ['eggs', 'milk', 'bread'], LEISURE, opened=(todo('milk', 'eggs', 'bread'),)),
    Said(('put bread before milk',), lambda g, a: texts(g('todo_1')) == ['bread', 'milk', 'eggs'], LEISURE, opened=(todo('milk', 'eggs', 'bread'),)),
    Said(('remove number two and number three',), lambda g, a: texts(g('todo_1')) == ['a'], LEISURE, opened=(todo('a', 'b', 'c'),)),
    Said(('is bread on the list?',), lambda g, a: 'bread' in a.lower() and 'yes' in a.lower(), LEISURE, opened=(todo('bread', 'milk'),)),
    Said(('do I have to buy sugar?',), lambda g, a: 'no' in a.lower(), LEISURE, opened=(todo('bread', 'milk'),)),
    Said(('整一个购物清单呗，要有葱、姜、蒜',), lambda g, a: texts(g('todo_1')) == ['葱', '姜', '蒜'], LEISURE),
    Said(('先把牛奶划掉，再加个酸奶',), lambda g, a: items(g('todo_1')) == [('牛奶', True), ('鸡蛋', False), ('酸奶', False)], LEISURE, opened=(todo('牛奶', '鸡蛋'),)),
    Said(('鸡蛋写错了，改成鸭蛋',), lambda g, a: texts(g('todo_1')) == ['牛奶', '鸭蛋'], LEISURE, opened=(todo('牛奶', '鸡蛋'),)),
    Said(('把牛奶和鸡蛋都标成完成',), lambda g, a: done(g('todo_1')) == [True, True, False], LEISURE, opened=(todo('牛奶', '鸡蛋', '面包'),)),
    Said(('单子上还有啥没干的？',), lambda g, a: '鸡蛋' in a and '牛奶' not in a, LEISURE, opened=(todo('牛奶', '鸡蛋'),), acts=(('todo_1', 'done', {'item': 1}),)),
    Said(('倒数第二个删了吧',), lambda g, a: texts(g('todo_1')) == ['甲', '丙'], LEISURE, opened=(todo('甲', '乙', '丙'),)),
    Said(('已经完成的都清掉',), lambda g, a: texts(g('todo_1')) == ['乙'], LEISURE, opened=(todo('甲', '乙'),), acts=(('todo_1', 'done', {'item': 1}),)),
    Said(('edit poem.txt: change red to white',), lambda g, a: 'roses are white' in g('editor_1').snapshot().content, LEISURE, files=POEM),
    Said(("in the file, swap every... no, just replace 'blue' by 'green'",), lambda g, a: 'violets are green' in g('editor_1').snapshot().content, LEISURE, opened=(('editor', {'path': 'poem.txt'}),), files=POEM),
    Said(('drop line 3 and save the file',), lambda g, a: text_of(g('editor_1'), 'poem.txt') == 'roses are red\nviolets are blue\n', LEISURE, opened=(('editor', {'path': 'poem.txt'}),), files=POEM),
    Said(('jump to the last line',), lambda g, a: g('editor_1').state.line == 3, LEISURE, opened=(('editor', {'path': 'poem.txt'}),), files=POEM),
    Said(('save this under the name copy.txt',), lambda g, a: g('editor_1').env.workspace.exists('copy.txt'), LEISURE, opened=(('editor', {'path': 'poem.txt'}),), files=POEM),
    Said(('open cfg.yml', 'set the port... I mean replace 80 with 8080', 'save',), lambda g, a: 'port: 8080' in text_of(g('editor_1'), 'cfg.yml'), LEISURE, files=POEM),
    Said(('读一下 poem.txt',), lambda g, a: 'violets' in a, LEISURE, files=POEM),
    Said(('打开 cfg.yml，把 host: a 改成 host: b，保存并关闭',), lambda g, a: g('editor_1') is None and True, LEISURE, files=POEM),
    Said(('在第二行后面加一行“完”',), lambda g, a: '3 完' in g('editor_1').snapshot().content, LEISURE, opened=(('editor', {'path': 'poem.txt'}),), files=POEM),
    Said(('which files are there?',), lambda g, a: 'poem.txt' in a, LEISURE, files=POEM),
    Said(('find the file called cfg',), lambda g, a: [r[0] for r in g('files_1').state.found] == ['cfg.yml'], LEISURE, opened=(('files', {}),), files=POEM),
    Said(("keep an eye on my computer's memory, please",), lambda g, a: g('monitor_1') is not None, LEISURE),
    Said(('stop watching for a moment',), lambda g, a: g('monitor_1').state.paused, LEISURE, opened=(('monitor', {}),)),
    Said(("what's my cpu usage?",), lambda g, a: 'cpu' in a.lower(), LEISURE, opened=(('monitor', {}),)),
    Said(('memory and network only please',), lambda g, a: g('monitor_1').state.shown == ['memory', 'network'], LEISURE, opened=(('monitor', {}),)),
    Said(('CPU 占用多少？',), lambda g, a: 'cpu' in a.lower(), LEISURE, opened=(('monitor', {}),)),
    Said(('note to self: renew the passport before June',), lambda g, a: [e.text for e in g('notebook_1').state.entries] == ['renew the passport before June'], LEISURE, opened=(('notebook', {}),)),
    Said(('write down the idea "solar kettle" and tag it with inventions',), lambda g, a: entries(g('notebook_1')) == [('solar kettle', ['inventions'])], LEISURE, opened=(('notebook', {}),)),
    Said(('show the second entry in full',), lambda g, a: g('notebook_1').state.expanded == [2], LEISURE, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': 'a\nlong one'}), ('notebook_1', 'write', {'text': 'b\nother one'}),)),
    Said(("change the first note to 'hello world'",), lambda g, a: g('notebook_1').state.entries[0].text == 'hello world', LEISURE, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': 'hi'}),)),
    Said(('把第一条笔记展开看看',), lambda g, a: g('notebook_1').state.expanded == [1], LEISURE, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': '甲\n很长很长'}),)),
    Said(("I'm on page 120 of Emma",), lambda g, a: g('reading_1').state.books[1][2] == 120, LEISURE, opened=READING),
    Said(('add The Hobbit with 310 pages',), lambda g, a: g('reading_1').state.books[-1] == ('The Hobbit', 310, 0), LEISURE, opened=READING),
    Said(('throw out Dune',), lambda g, a: [b[0] for b in g('reading_1').state.books] == ['Emma', 'Momo'], LEISURE, opened=READING),
    Said(('my goal is 20 books this year',), lambda g, a: g('reading_1').state.goal == 20, LEISURE, opened=READING),
    Said(('把《小王子》加进书单',), lambda g, a: g('reading_1').state.books[-1][0] == '小王子', LEISURE, opened=READING),
    Said(('开始扫客厅和厨房',), lambda g, a: g('vacuum_1').state.doing == 'cleaning' and g('vacuum_1').state.rooms == ['客厅', '厨房'], LEISURE, opened=(('vacuum', {}),)),
    Said(('让它回去充电',), lambda g, a: g('vacuum_1').state.doing == 'docked', LEISURE, opened=(('vacuum', {}),)),
    Said(('start cleaning the kitchen',), lambda g, a: g('vacuum_1').state.doing == 'cleaning', LEISURE, opened=(('vacuum', {}),)),
    Said(('invite Zoe and Max',), lambda g, a: list(g('guests_1').state.guests) == ['Mia', 'Tom', 'Ravi', 'Zoe', 'Max'], LEISURE, opened=GUESTS),
    Said(('Tom will come',), lambda g, a: g('guests_1').state.coming == ['Tom'], LEISURE, opened=GUESTS),
    Said(('put Mia at table 4 and Ravi at table 2',), lambda g, a: g('guests_1').state.guests == {'Mia': 4, 'Tom': 0, 'Ravi': 2}, LEISURE, opened=GUESTS),
    Said(("Tom can't make it, take him off the list",), lambda g, a: list(g('guests_1').state.guests) == ['Mia', 'Ravi'], LEISURE, opened=GUESTS),
    Said(('start a guest list with Ann, Bob and Cy',), lambda g, a: list(g('guests_1').state.guests) == ['Ann', 'Bob', 'Cy'], LEISURE),
    Said(('can you order me a pizza?',), lambda g, a: 'cannot' in a.lower() and texts(g('todo_1')) == ['a'], LEISURE, opened=(todo('a'),)),
    Said(('who are you?',), lambda g, a: 'offline' in a, LEISURE),
    Said(('你能帮我写一首诗吗',), lambda g, a: any(x in a for x in ('无法', '不能')) and (not g('todo_1').state.items[1:]), LEISURE, opened=(todo('甲'),)),
    Said(('close the second list and leave the first one alone',), lambda g, a: g('todo_1') and (not g('todo_2')), LEISURE, opened=(todo('a'), todo('b'),)),
    Said(('除了编辑器都关了',), lambda g, a: g('editor_1') and (not g('todo_1')) and (not g('files_1')), LEISURE, opened=(todo('甲'), ('files', {}), ('editor', {'path': 'poem.txt'}),), files=POEM),
    Said(('close the list, summary: groceries all bought',), lambda g, a: not g('todo_1'), LEISURE, opened=(todo('a'),)),
    # with flat
    Said(('Make me a checklist for moving day: boxes, tape, markers. Then mark tape as done.',), lambda g, a: items(g('todo_1')) == [('boxes', False), ('tape', True), ('markers', False)], FLAT),
    Said(('tick off both milk and bread on my list',), lambda g, a: done(g('todo_1')) == [True, False, True], FLAT, opened=(todo('milk', 'eggs', 'bread'),)),
    Said(('I need to remember: call the vet, buy stamps', 'the stamps are bought',), lambda g, a: items(g('todo_1'))[-2:] == [('call the vet', False), ('buy stamps', True)], FLAT, opened=(todo('x'),)),
    Said(('rename the last entry on the list to "feed Rex" and move it up to position 1',), lambda g, a: texts(g('todo_1')) == ['feed Rex', 'a', 'b'], FLAT, opened=(todo('a', 'b', 'c'),)),
    Said(('Please take the third item off and add plums instead',), lambda g, a: texts(g('todo_1')) == ['a', 'b', 'plums'], FLAT, opened=(todo('a', 'b', 'c'),)),
    Said(('clear the finished ones off the list and then tell me what is left',), lambda g, a: texts(g('todo_1')) == ['b'] and 'b' in a, FLAT, opened=(todo('a', 'b'),), acts=(('todo_1', 'done', {'item': 1}),)),
    Said(('which of my lists has nails on it?',), lambda g, a: 'todo_2' in a and 'todo_1' not in a, FLAT, opened=(todo('milk'), todo('nails'),)),
    Said(('add stamps to the list with the nails',), lambda g, a: texts(g('todo_2')) == ['nails', 'stamps'], FLAT, opened=(todo('milk'), todo('nails'),)),
    Said(("shut both lists, I'm finished with them",), lambda g, a: not g('todo_1') and (not g('todo_2')) and g('notebook_1'), FLAT, opened=(todo('a'), todo('b'), ('notebook', {}),)),
    Said(('把清单里的第一项和最后一项都划掉',), lambda g, a: done(g('todo_1')) == [True, False, True], FLAT, opened=(todo('甲', '乙', '丙'),)),
    Said(('往 todo_1 里添上雨伞和水壶，别的不动',), lambda g, a: texts(g('todo_1')) == ['帐篷', '雨伞', '水壶'], FLAT, opened=(todo('帐篷'), todo('x'),)),
    Said(('大米已经买了，把它标成完成，然后看看还剩什么',), lambda g, a: items(g('todo_1')) == [('大米', True), ('面条', False)] and '面条' in a, FLAT, opened=(todo('大米', '面条'),)),
    Said(('把“打电话”这一项改为“给房东打电话”',), lambda g, a: texts(g('todo_1')) == ['给房东打电话', 'x'], FLAT, opened=(todo('打电话', 'x'),)),
    Said(('帮我新建两个…算了，就建一个清单，写上茶叶和杯子',), lambda g, a: texts(g('todo_1')) == ['茶叶', '杯子'], FLAT),
    Said(('could you open notes/plan.md and insert "- zero" before line 2',), lambda g, a: '2 - zero' in g('editor_1').snapshot().content, FLAT, files=PLAN),
    Said(('delete the first two lines',), lambda g, a: '1 c\n2 d' in g('editor_1').snapshot().content, FLAT, opened=(('editor', {'path': 'log.txt'}),), files=PLAN),
    Said(('replace line 3 with "see" and then undo it',), lambda g, a: not g('editor_1').state.edits and g('editor_1').state.revision == 2, FLAT, opened=(('editor', {'path': 'log.txt'}),), files=PLAN),
    Said(('save a copy as backup.txt',), lambda g, a: g('editor_1').env.workspace.exists('backup.txt'), FLAT, opened=(('editor', {'path': 'log.txt'}),), files=PLAN),
    Said(("show me what I changed but haven't saved",), lambda g, a: 'beta' in a, FLAT, opened=(('editor', {'path': 'log.txt'}),), files=PLAN, acts=(('editor_1', 'replace', {'old': 'b', 'new': 'beta'}),)),
    Said(('把 log.txt 打开，删掉最后一行，保存',), lambda g, a: text_of(g('editor_1'), 'log.txt') == 'a\nb\nc\n', FLAT, files=PLAN),
    Said(('在最后加上“完”这一行',), lambda g, a: '5 完' in g('editor_1').snapshot().content, FLAT, opened=(('editor', {'path': 'log.txt'}),), files=PLAN),
    Said(('把 b 换成 B，把 c 换成 C',), lambda g, a: '2 B\n3 C' in g('editor_1').snapshot().content, FLAT, opened=(('editor', {'path': 'log.txt'}),), files=PLAN),
    Said(('go into notes and open plan.md',), lambda g, a: g('editor_1').state.path == 'notes/plan.md', FLAT, opened=(('files', {}),), files=PLAN),
    Said(('展开 notes，再收起来',), lambda g, a: g('files_1').state.expanded == [], FLAT, opened=(('files', {}),), files=PLAN),
    Said(('在 notes 里搜 two',), lambda g, a: len(g('files_1').state.found) == 1, FLAT, opened=(('files', {}),), files=PLAN),
    Said(('open the monitor, show the five hungriest processes by cpu',), lambda g, a: g('monitor_1').state.count == 5 and g('monitor_1').state.by == 'cpu', FLAT),
    Said(('take a sample right now',), lambda g, a: 'cpu' in a.lower(), FLAT, opened=(('monitor', {}),)),
    Said(('只看网络和负载，每十秒一次',), lambda g, a: g('monitor_1').state.shown == ['network', 'load'] and g('monitor_1').state.seconds == 10, FLAT, opened=(('monitor', {}),)),
    Said(('先别采样了',), lambda g, a: g('monitor_1').state.paused, FLAT, opened=(('monitor', {}),)),
    Said(('open a notebook and write that the boiler code is 7731', 'tag that with house',), lambda g, a: entries(g('notebook_1')) == [('the boiler code is 7731', ['house'])], FLAT),
    Said(('only show the notes tagged work',), lambda g, a: g('notebook_1').state.tag == 'work', FLAT, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': 'x', 'tags': ['work']}),)),
    Said(('show all my notes again',), lambda g, a: g('notebook_1').state.tag is None, FLAT, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': 'x', 'tags': ['work']}), ('notebook_1', 'filter', {'tag': 'work'}),)),
    Said(('给第一条笔记加上“家”和“急”两个标签',), lambda g, a: g('notebook_1').state.entries[0].tags == ['家', '急'], FLAT, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': '甲'}),)),
    Said(('搜一下笔记里有没有护照',), lambda g, a: '护照' in a, FLAT, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': '护照在抽屉里'}), ('notebook_1', 'write', {'text': '乙'}),)),
    Said(('close the blinds in the kitchen',), lambda g, a: g('blinds_1') and g('blinds_1').state.rooms['kitchen'] == 100, FLAT, opened=BLINDS),
    Said(('set bath to 30 percent and office to 80 percent',), lambda g, a: g('blinds_1').state.rooms == {'kitchen': 0, 'office': 80, 'bath': 30}, FLAT, opened=BLINDS),
    Said(('let the blinds follow the sun',), lambda g, a: g('blinds_1').state.sun, FLAT, opened=BLINDS),
    Said(('stop following the sun',), lambda g, a: not g('blinds_1').state.sun, FLAT, opened=BLINDS, acts=(('blinds_1', 'follow_sun', {'on': True}),)),
    Said(('raise the office blind',), lambda g, a: g('blinds_1').state.rooms['office'] == 0, FLAT, opened=BLINDS, acts=(('blinds_1', 'set', {'room': 'office', 'percent': 70}),)),
    Said(('螺丝入库 20 个',), lambda g, a: g('stock_1').state.items['螺丝'] == 20, FLAT, opened=STOCK),
    Said(('把螺丝的数量改成 7',), lambda g, a: g('stock_1').state.items['螺丝'] == 7, FLAT, opened=STOCK),
    Said(('仓库里有多少灯泡？',), lambda g, a: '灯泡' in a and '4' in a, FLAT, opened=STOCK, acts=(('stock_1', 'correct', {'item': '灯泡', 'count': 4}),)),
    Said(('make a card with front "Hund" and back "dog"',), lambda g, a: g('cards_1').state.cards == [('Hund', 'dog')], FLAT, opened=(('cards', {}),)),
    Said(('next card please',), lambda g, a: g('cards_1').state.shown == 1, FLAT, opened=(('cards', {}),)),
    Said(('mix them up',), lambda g, a: g('cards_1').state.shuffled, FLAT, opened=(('cards', {}),)),
    Said(('I want to learn words, open the flash cards',), lambda g, a: g('cards_1') is not None, FLAT),
    Said(('send the notes to my boss',), lambda g, a: 'cannot' in a.lower() and (not g('notebook_1').state.entries), FLAT, opened=(('notebook', {}),)),
    Said(('帮我叫个外卖',), lambda g, a: any(x in a for x in ('无法', '不能')) and texts(g('todo_1')) == ['甲'], FLAT, opened=(todo('甲'),)),
    Said(('what windows are open right now?',), lambda g, a: 'todo_1' in a and 'notebook_1' in a, FLAT, opened=(todo('a'), ('notebook', {}),)),
    Said(('thanks!',), lambda g, a: 'welcome' in a, FLAT),
    Said(('你是什么模型？',), lambda g, a: '离线' in a, FLAT),
    # where nothing is open yet, or was opened for what follows
    Said(('add milk to my shopping list',), lambda g, a: texts(g('todo_1')) == ['milk'], LEISURE),
    Said(('add milk and eggs to my list',), lambda g, a: texts(g('todo_1')) == ['milk', 'eggs'], HOME),
    Said(('把牛奶加到购物清单',), lambda g, a: texts(g('todo_1')) == ['牛奶'], FLAT),
    Said(('add milk to my shopping list',), lambda g, a: texts(g('todo_1')) == ['milk'], FLAT, opened=(('notebook', {}), ('editor', {'path': 'a.txt'})), files=ALPHA),
    Said(('add Mia to my guest list',), lambda g, a: g('guests_1') and not g('todo_1'), LEISURE),
    Said(('find milk in my list',), lambda g, a: not g('todo_1'), FLAT),
    Said(('start a shopping list', 'milk, eggs and bread'), lambda g, a: texts(g('todo_1')) == ['milk', 'eggs', 'bread'], FLAT),
    Said(('新建一个购物清单', '牛奶、鸡蛋和面包'), lambda g, a: texts(g('todo_1')) == ['牛奶', '鸡蛋', '面包'], FLAT),
    Said(('start a shopping list', 'that is nice and warm'), lambda g, a: texts(g('todo_1')) == [], FLAT),
    Said(('milk, eggs and bread',), lambda g, a: texts(g('todo_1')) == ['tea'], FLAT, opened=(todo('tea'),)),
    Said(('open the notebook', 'milk, eggs and bread'), lambda g, a: entries(g('notebook_1')) == [], FLAT),
    # what a window shows as it is, and "go on"
    Said(('show me my notes',), lambda g, a: 'the pin' in a and g('notebook_1').state.tag == 'bank', FLAT, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': 'the pin is 4711', 'tags': ['bank']}), ('notebook_1', 'filter', {'tag': 'bank'}))),
    Said(('显示我的笔记',), lambda g, a: '密码' in a, FLAT, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': '密码是 4711'}),)),
    Said(('show my notes',), lambda g, a: g('notebook_1'), FLAT),
    Said(('delete soap and then add tea', 'go on'), lambda g, a: texts(g('todo_1')) == ['milk', 'tea'], FLAT, opened=(todo('milk'),)),
    Said(('删除肥皂，然后添加茶叶', '继续'), lambda g, a: texts(g('todo_1')) == ['牛奶', '茶叶'], FLAT, opened=(todo('牛奶'), ('monitor', {}))),
    Said(('add tea', 'go on with it'), lambda g, a: 'Nothing is left' in a and "Added 2 'tea'" in a and items(g('todo_1')) == [('milk', False), ('tea', False)], FLAT, opened=(todo('milk'), ('monitor', {}))),
    Said(('继续吧',), lambda g, a: '没有剩下要做的' in a, FLAT, opened=(todo('牛奶'),)),
    Said(('pause the monitor', 'go on'), lambda g, a: not g('monitor_1').state.paused, FLAT, opened=(('monitor', {}), todo('milk'))),
    # what a word is about
    Said(('delete the note',), lambda g, a: entries(g('notebook_1')) == [] and texts(g('todo_1')) == ['milk'], FLAT, opened=(todo('milk'), ('notebook', {})), acts=(('notebook_1', 'write', {'text': 'the pin is 4711'}),)),
    Said(('清单里加上茶叶', '删掉那条笔记'), lambda g, a: entries(g('notebook_1')) == [] and texts(g('todo_1')) == ['牛奶', '茶叶'], FLAT, opened=(todo('牛奶'), ('notebook', {})), acts=(('notebook_1', 'write', {'text': '密码是 4711'}),)),
    Said(('delete the note',), lambda g, a: len(entries(g('notebook_1'))) == 2, FLAT, opened=(('notebook', {}),), acts=(('notebook_1', 'write', {'text': 'a'}), ('notebook_1', 'write', {'text': 'b'}))),
    Said(('delete the list',), lambda g, a: not g('todo_1') or texts(g('todo_1')) == ['milk'], FLAT, opened=(todo('milk'),)),
    Said(('delete this list',), lambda g, a: items(g('todo_1')) == [('milk', False)], FLAT, opened=(todo('milk'),)),
    Said(('close this list',), lambda g, a: not g('todo_1'), FLAT, opened=(todo('milk'),)),
    Said(('把这个清单删了',), lambda g, a: items(g('todo_1')) == [('牛奶', False)], FLAT, opened=(todo('牛奶'),)),
    Said(('有哪些窗口可以打开？',), lambda g, a: '可以打开：' in a and 'notebook' in a, FLAT, opened=(todo('甲'),)),
    Said(('有哪些窗口是打开的？',), lambda g, a: '已打开：' in a and 'notebook' not in a, FLAT, opened=(todo('甲'),)),
    Said(('restart the computer',), lambda g, a: g('monitor_1').state.paused and 'cannot' in a, FLAT, opened=(('monitor', {}),), acts=(('monitor_1', 'pause', {}),)),
    Said(('放点音乐',), lambda g, a: texts(g('todo_1')) == ['甲'] and '无法' in a, FLAT, opened=(todo('甲'),)),
    Said(('把雨伞放到清单里',), lambda g, a: texts(g('todo_1')) == ['甲', '雨伞'], FLAT, opened=(todo('甲'),)),
)  # fmt: skip
