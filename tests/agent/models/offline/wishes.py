"""Sentences that the offline model was made with: what is open, what is said, what comes of it."""

# ruff: noqa: E501  (one wish to a line)

from typing import Any, NamedTuple

Opened = tuple[tuple[str, dict[str, Any]], ...]


class Wish(NamedTuple):
    """Windows to open first (name, args), words, and the calls that are expected of them."""

    words: str
    opened: Opened = ()
    calls: tuple[str, ...] = ()


TODO: Opened = (("todo", {"items": ["milk", "eggs", "bread"]}),)
ZH_TODO: Opened = (("todo", {"items": ["牛奶", "鸡蛋", "面包"]}),)
EDITOR: Opened = (("editor", {"path": "notes.txt"}),)
FILES: Opened = (("files", {}),)
NOTES: Opened = (("notebook", {}),)
MONITOR: Opened = (("monitor", {}),)
LAMPS: Opened = (("lamps", {}),)
KANBAN: Opened = (("kanban", {}),)
TIMER: Opened = (("timer", {}),)
SCORES: Opened = (("scores", {"players": ["Anna", "Ben"]}),)

WISHES = (
    # opening
    Wish("open todo", (), ("create todo",)),
    Wish("Make a todo list", (), ("create todo",)),
    Wish("Could you please set up a new to-do list for me?", (), ("create todo",)),
    Wish("I need a shopping list with apples, pears and a melon", (), ("create todo items=['apples', 'pears', 'melon']",)),
    Wish('make a list with "apple pie", bread and tea', (), ("create todo items=['apple pie', 'bread', 'tea']",)),
    Wish('make a list with "call mom", "pay rent" and "salt and pepper"', (), ("create todo items=['call mom', 'pay rent', 'salt and pepper']",)),
    Wish("建一个待办清单，包括“苹果派”、面包", (), ("create todo items=['苹果派', '面包']",)),
    Wish('add bread, "apple pie" and tea', TODO, ("todo_1.add text=['bread', 'apple pie', 'tea']",)),
    Wish("start a list: soap, salt", (), ("create todo items=['soap', 'salt']",)),
    Wish("开一个待办清单", (), ("create todo",)),
    Wish("帮我建一个购物清单，里面有苹果、香蕉和牛奶", (), ("create todo items=['苹果', '香蕉', '牛奶']",)),
    Wish("open notes.txt in an editor", (), ("create editor path=notes.txt",)),
    Wish("edit src/main.py", (), ("create editor path=src/main.py",)),
    Wish("打开 notes.txt", (), ("create editor path=notes.txt",)),
    Wish("用编辑器打开notes.txt", (), ("create editor path=notes.txt",)),
    Wish("create a new file ideas.md", (), ("create editor path=ideas.md new=True",)),
    Wish("show me the files", (), ("create files",)),
    Wish("显示文件", (), ("create files",)),
    Wish("I want to see what my computer is doing", (), ("create monitor",)),
    Wish("monitor the machine every 2 seconds", (), ("create monitor seconds=2",)),
    Wish("打开系统监控", (), ("create monitor",)),
    Wish("show the top 5 processes by memory", (), ("create monitor processes=5 by=memory",)),
    Wish("open a notebook", (), ("create notebook",)),
    Wish("新建一个笔记本", (), ("create notebook",)),
    Wish("start a timer for 10 minutes", (), ("create timer seconds=600",)),
    Wish("开一个五分钟的计时器", (), ("create timer seconds=300",)),
    Wish("give me the board with the cards", (), ("create kanban",)),
    Wish("open a todo list and a notebook", (), ("create todo", "create notebook")),
    Wish("a scoreboard for a game with players Anna and Ben", (), ("create scores players=['Anna', 'Ben']",)),
    # a list
    Wish("add butter", TODO, ("todo_1.add text=butter",)),
    Wish("put cheese and ham on the list", TODO, ("todo_1.add text=['cheese', 'ham']",)),
    Wish("please add 'call the bank, soon' to my list", TODO, ("todo_1.add text=call the bank, soon",)),
    Wish("empty the list", TODO, ("todo_1.delete item=3", "todo_1.delete item=2", "todo_1.delete item=1")),
    Wish("add tea & cake to it", TODO, ("todo_1.add text=['tea', 'cake']",)),
    Wish("don't delete the milk", TODO, ()),
    Wish("change line 2 to TWO", EDITOR, ("editor_1.replace_lines first=2 last=2 text=TWO",)),
    Wish("delete the first line", EDITOR, ("editor_1.delete_lines first=1 last=1",)),
    Wish("remind me to water the plants", (), ("create todo", "todo_1.add text=water the plants")),
    Wish("show everything again", MONITOR, ("monitor_1.show metrics=['cpu', 'memory', 'disk', 'load', 'network']",)),
    Wish("we also need sugar", TODO, ("todo_1.add text=sugar",)),
    Wish("don't forget the candles", TODO, ("todo_1.add text=candles",)),
    Wish("eggs are done", TODO, ("todo_1.done item=2",)),
    Wish("I bought the milk", TODO, ("todo_1.done item=1",)),
    Wish("tick off the last item", TODO, ("todo_1.done item=3",)),
    Wish("check the first one off", TODO, ("todo_1.done item=1",)),
    Wish("get rid of bread", TODO, ("todo_1.delete item=3",)),
    Wish("take eggs off the list", TODO, ("todo_1.delete item=2",)),
    Wish("delete milk and bread", TODO, ("todo_1.delete item=3", "todo_1.delete item=1")),
    Wish("change bread to rye bread", TODO, ("todo_1.edit item=3 text=rye bread",)),
    Wish("move bread to the top", TODO, ("todo_1.move item=3 place=1",)),
    Wish("move the second item to place 3", TODO, ("todo_1.move item=2 place=3",)),
    Wish("mark milk and eggs as done, then clear what is done", TODO, ("todo_1.done item=1", "todo_1.done item=2", "todo_1.clear_done")),
    Wish("加上黄油", ZH_TODO, ("todo_1.add text=黄油",)),
    Wish("在清单里加上苹果和香蕉", ZH_TODO, ("todo_1.add text=['苹果', '香蕉']",)),
    Wish("把鸡蛋标记为完成", ZH_TODO, ("todo_1.done item=2",)),
    Wish("牛奶买好了", ZH_TODO, ("todo_1.done item=1",)),
    Wish("把第二项删掉", ZH_TODO, ("todo_1.delete item=2",)),
    Wish("把牛奶改成豆浆", ZH_TODO, ("todo_1.edit item=1 text=豆浆",)),
    Wish("删除最后一个，然后把牛奶移到第二位", ZH_TODO, ("todo_1.delete item=3", "todo_1.move item=1 place=2")),
    Wish("清除已完成的", ZH_TODO, ("todo_1.clear_done",)),
    Wish("make a todo list, add milk and mark it as done", (), ("create todo", "todo_1.add text=milk", "todo_1.done item=1")),
    Wish("建一个待办清单，加上牛奶，然后把它标记为完成", (), ("create todo", "todo_1.add text=牛奶", "todo_1.done item=1")),
    Wish("add milk to my todo list", (), ("create todo", "todo_1.add text=milk")),
    # closing
    Wish("close the list", TODO, ("todo_1.close",)),
    Wish("close it, we are done with shopping", TODO, ("todo_1.close summary=we are done with shopping",)),
    Wish("关掉清单", TODO, ("todo_1.close",)),
    Wish("关闭它，购物已经结束了", TODO, ("todo_1.close summary=购物已经结束了",)),
    Wish("close all windows", (*TODO, *NOTES), ("todo_1.close", "notebook_1.close")),
    # a file
    Wish("go to line 2", EDITOR, ("editor_1.goto line=2",)),
    Wish("replace two with four", EDITOR, ("editor_1.replace old=two new=four",)),
    Wish("replace 'one' by 'uno' and save the file", EDITOR, ("editor_1.replace old=one new=uno", "editor_1.save")),
    Wish("insert \"hello\" before line 3", EDITOR, ("editor_1.insert before_line=3 text=hello",)),
    Wish("delete line 2", EDITOR, ("editor_1.delete_lines first=2 last=2",)),
    Wish("delete lines 1 to 2, then undo that", EDITOR, ("editor_1.delete_lines first=1 last=2", "editor_1.undo")),
    Wish("把 two 替换成 four", EDITOR, ("editor_1.replace old=two new=four",)),
    Wish("跳到第三行", EDITOR, ("editor_1.goto line=3",)),
    Wish("删除第2行到第3行", EDITOR, ("editor_1.delete_lines first=2 last=3",)),
    Wish("find TODO in the file", EDITOR, ("editor_1.find text=TODO",)),
    Wish("save it as copy.txt", EDITOR, ("editor_1.save_as path=copy.txt",)),
    Wish("expand src", FILES, ("files_1.expand path=src",)),
    Wish("search for files named main", FILES, ("files_1.find_name text=main",)),
    Wish("find files that contain the text TODO", FILES, ("files_1.find_text text=TODO",)),
    # notes
    Wish("write down that the meeting is at 3", NOTES, ("notebook_1.write text=the meeting is at 3",)),
    Wish("note: buy flowers, red ones, and wine", NOTES, ("notebook_1.write text=buy flowers, red ones, and wine",)),
    Wish("记一条笔记：明天下午开会", NOTES, ("notebook_1.write text=明天下午开会",)),
    # the machine
    Wish("pause the monitor", MONITOR, ("monitor_1.pause",)),
    Wish("only show cpu and memory", MONITOR, ("monitor_1.show metrics=['cpu', 'memory']",)),
    Wish("take a sample every ten seconds", MONITOR, ("monitor_1.every seconds=10",)),
    Wish("只显示内存和磁盘", MONITOR, ("monitor_1.show metrics=['memory', 'disk']",)),
    Wish("暂停监控", MONITOR, ("monitor_1.pause",)),
    # strangers
    Wish("turn on the kitchen lamp", LAMPS, ("lamps_1.switch room=kitchen on=True",)),
    Wish("switch the lamp in the hall off", LAMPS, ("lamps_1.switch room=hall on=False",)),
    Wish("set the bedroom to 40%", LAMPS, ("lamps_1.dim room=bedroom percent=40",)),
    Wish("make the hall lamp red", LAMPS, ("lamps_1.paint room=hall color=red",)),
    Wish("turn all lamps off", LAMPS, ("lamps_1.all_off",)),
    Wish("打开厨房的灯", LAMPS, ("lamps_1.switch room=kitchen on=True",)),
    Wish("把卧室的灯调到30%", LAMPS, ("lamps_1.dim room=bedroom percent=30",)),
    Wish("add a card 'write tests'", KANBAN, ("kanban_1.add_card title=write tests",)),
    Wish("add a card 'write tests', move it to doing and assign it to Anna", KANBAN, ("kanban_1.add_card title=write tests", "kanban_1.move card=1 column=doing", "kanban_1.assign card=1 owner=Anna")),
    Wish("give Anna 3 points", SCORES, ("scores_1.award player=Anna points=3",)),
    Wish("5 points to Ben please", SCORES, ("scores_1.award player=Ben points=5",)),
    Wish("给 Anna 加 3 分", SCORES, ("scores_1.award player=Anna points=3",)),
    Wish("let Carla join", SCORES, ("scores_1.join player=Carla",)),
    Wish("start again from zero", SCORES, ("scores_1.reset",)),
    Wish("start it with 90 seconds", TIMER, ("timer_1.start seconds=90",)),
    Wish("add two minutes", TIMER, ("timer_1.extend seconds=120",)),
    Wish("stop the timer", TIMER, ("timer_1.hold",)),
    # said in other ways
    Wish("throw flour, sugar and yeast on there too", TODO, ("todo_1.add text=['flour', 'sugar', 'yeast']",)),
    Wish("I've already got the eggs", TODO, ("todo_1.done item=2",)),
    Wish("scratch bread, we have enough", TODO, ("todo_1.delete item=3",)),
    Wish("the milk isn't done after all", (("todo", {"items": ["milk", "eggs"]}),), ("todo_1.undone item=1",)),
    Wish("remind me to water the plants", TODO, ("todo_1.add text=water the plants",)),
    Wish("Put “a & b <c>” on it", TODO, ("todo_1.add text=a & b <c>",)),
    Wish("reword the third one: wholegrain bread", TODO, ("todo_1.edit item=3 text=wholegrain bread",)),
    Wish("look for milk in the list", TODO, ("todo_1.find text=milk",)),
    Wish("everything on the list is done", TODO, ("todo_1.done item=1", "todo_1.done item=2", "todo_1.done item=3")),
    Wish("请把牛奶和面包划掉", ZH_TODO, ("todo_1.done item=1", "todo_1.done item=3")),
    Wish("还要买酱油", ZH_TODO, ("todo_1.add text=买酱油",)),
    Wish("提醒我给妈妈打电话", ZH_TODO, ("todo_1.add text=给妈妈打电话",)),
    Wish("第一项已经做完了", ZH_TODO, ("todo_1.done item=1",)),
    Wish("帮我打开一个编辑器看看 src/main.py", (), ("create editor path=src/main.py",)),
    Wish("有哪些文件？", (), ("create files",)),
    Wish("how much memory is in use?", (), ("create monitor",)),
    Wish("jot down: the wifi password is on the fridge", (), ("create notebook", "notebook_1.write text=the wifi password is on the fridge")),
    Wish("Remember in my notebook that Kim likes tea", (), ("create notebook", "notebook_1.write text=Kim likes tea")),
    Wish("scroll down", EDITOR, ("editor_1.scroll",)),
    Wish("show me the changes that are not saved", EDITOR, ("editor_1.diff",)),
    Wish("undo", EDITOR, ("editor_1.undo",)),
    Wish("take that back", EDITOR, ("editor_1.undo",)),
    Wish("保存", EDITOR, ("editor_1.save",)),
    Wish("在第2行前面插入“你好”", EDITOR, ("editor_1.insert before_line=2 text=你好",)),
    Wish("把第1行换成“零”", EDITOR, ("editor_1.replace_lines first=1 last=1 text=零",)),
    Wish("look inside src", FILES, ("files_1.expand path=src",)),
    Wish("go into the folder src", FILES, ("files_1.enter path=src",)),
    Wish("在 src 里查找 TODO", FILES, ("files_1.find_text text=TODO under=src",)),
    Wish("open notes.txt", FILES, ("files_1.open path=notes.txt",)),
    Wish("resume sampling", MONITOR, ("monitor_1.resume",)),
    Wish("list the three processes that use most memory", MONITOR, ("monitor_1.processes count=3 by=memory",)),
    Wish("每隔30秒采样一次", MONITOR, ("monitor_1.every seconds=30",)),
    Wish("显示前五个进程", MONITOR, ("monitor_1.processes count=5",)),
    Wish("hide the arguments of the processes", MONITOR, ("monitor_1.arguments show=False",)),
    Wish("tag entry 1 with work and urgent", (("notebook", {}),), ("notebook_1.tag entry=1 tags=['work', 'urgent']",)),
    Wish("lights out everywhere", LAMPS, ("lamps_1.all_off",)),
    Wish("I'd like the kitchen in blue", LAMPS, ("lamps_1.paint room=kitchen color=blue",)),
    Wish("dim the hall to twenty percent and turn the kitchen on", LAMPS, ("lamps_1.dim room=hall percent=20", "lamps_1.switch room=kitchen on=True")),
    Wish("关掉卧室的灯", LAMPS, ("lamps_1.switch room=bedroom on=False",)),
    Wish("把厨房的灯变成绿色", LAMPS, ("lamps_1.paint room=kitchen color=green",)),
    Wish("new card: fix the login", KANBAN, ("kanban_1.add_card title=fix the login",)),
    Wish("put a card 'deploy' into doing", KANBAN, ("kanban_1.add_card title=deploy column=doing",)),
    Wish("添加一张卡片“写文档”", KANBAN, ("kanban_1.add_card title=写文档",)),
    Wish("Ben gets ten points", SCORES, ("scores_1.award player=Ben points=10",)),
    Wish("Carla wants to play too", SCORES, ("scores_1.join player=Carla",)),
    Wish("给Ben加两分", SCORES, ("scores_1.award player=Ben points=2",)),
    Wish("倒计时三分钟", TIMER, ("timer_1.start seconds=180",)),
    Wish("hold on for a moment", TIMER, ("timer_1.hold",)),
)  # fmt: skip
