"""The small words: how something is said rather than what. English | Chinese."""

from contextui.agent.models.offline.lexicon.listed import listed

PARTICLES = """
interjection: hmm, hm, oh, oops, uh, um, ah, wait, well, no wait, sorry, ok, okay, alright,
    by the way, btw, so, hey, yeah, yep, nope, right, that's enough, that is enough, enough,
    that will do, good, fine | 嗯 哦 呃 诶 哎 哎呀 噢 喔 对了 不对 好了 好吧 行了 行 那么 话说
    等等 等一下 可以了 够了 就行 就好 就可以了
correction: i mean, actually make that, actually make it, rather, or rather, correction, no wait,
    make that, scratch that, i meant, on second thought | 我是说 应该是 不是 说错了 我说的是 算了
    不对 应该说 更正 我的意思是 哦不 啊不
aux: should, must, may, might, shall, will, would, ought to, has to, have to, needs to, need to,
    can, could, gets to, is to | 应该 应当 必须 得 可以 要 还得 还要 还需要 还想 也要 也得
needing: i need to, i have to, i must, i should, i have got to, i got to, i gotta, we need to,
    we have to, we must, we should, i still need to, i still have to, i also need to |
    我要 我得 我需要 要 得 必须 需要 我想 我还要 我还得 得去 要去
aspect: | 着 了 过 的 地 得 们 完
after_doing: when done, once done, afterwards | 改完 改好 写完 写好 加完 删完 弄完 做完 做好 弄好
    改完之后 完成后 弄完之后 打开后 打开之后 改了之后
no_need: | 不用 不必 不需要 无需 没必要 用不着 不想
polite: please, kindly, if you could, if you would, if you don't mind, if that's ok, when you can,
    could you, can you, would you, will you, could we, can we, can i, could i, may i, would you
    mind, i want you to, i'd like you to, i would like you to, i want to, i'd like to, i would like
    to, i'd love to, i need to, let's, let us, go ahead and, hey, ok, okay, thanks, thank you, for
    me, if you can, if possible, i think, i guess, well, so, sure, alright, right, yes, you know,
    do me a favor and, do me a favour and, help me, help me to, be so kind and, feel free to,
    actually, maybe, perhaps, quickly, real quick, pls, let me, i'll, we should, you should, you
    can, you could, you may, i wonder if you could, try to, time to, it's time to, sorry to bother
    you, i hope i'm not bothering you, if it isn't too much trouble, if it's not too much trouble,
    if it is not too much trouble, possibly, i was wondering if you could, would it be possible to,
    is it possible to, why don't you, why don't we | 请 麻烦 麻烦你 帮我 帮忙 帮 给我 替我 为我
    请你 请帮我 能不能 能否 可以 可不可以 可否 能 我想 我要 不好意思 打扰一下 打扰了 抱歉 打扰
    我想要 我需要 我希望 一下 一下吧 吧 吗 呢 啊 呀 呗 啦 嘛 咯 哈 哟 哦 嗯 谢谢 多谢 您 你 好的 好
    劳驾 拜托 那就 那 就 来 咱们 我们来 让我们 顺便 快 赶紧 现在就 希望你 你能 你可以 能帮我
    可以帮我 我得 该
adverb: just, now, at the moment, these days, also, too, as well, again, right now, really, simply,
    straight away, immediately, today only, once more, first of all, finally, already, at once,
    first off, instead, anyway, still, for a moment, for now, for a while, a bit, a little, after
    all, for good, in total, altogether, overall, yet, so far, currently, once again, to self, to
    myself, any more, anymore, any longer, right away | 也 都 再 又 还 先 现在 马上 立刻 立即 目前
    已经 其实 另外 顺便 直接 一会儿 一会 稍微 片刻 暂时 各 各自 分别 刚才 刚刚 一共 总共 共 目前为止
article: a, an, the, teh, some, any, all occurrences of, every occurrence of, each occurrence of,
    every instance of, all instances of | 一个 一份 一张 一条 一项 一些 一只 一本 一种 点 些 个
    一下子
new_article: a new, an additional, another, one more, yet another, a second, a fresh, an extra,
    a further | 另一个 新的 再一个 又一个 另外一个 新一个 一个新的 一个新 再来一个
plural: them, they, both, both of them, these, those, all of them | 它们 他们 这些 那些 这两个
    那两个 两个都 俩
possessive: my, our, your, his, her, their, its | 我的 我们的 你的 他的 她的 咱们的
person: i'm, we're, they're, you're, he's, she's, i, we, you, me, us, he, she | 我 我们 他们 咱
this: this, that, these, those, the same, said, the current | 这个 那个 这 那 这些 那些 该 此
    刚才的 当前
it: it, him, her, that one, this one, this thing, them, they, the thing | 它 它们 他 这个 那个
    这一个 那一个 这些 那些
all: all, every, everything, whatever, whichever, each, all of them, all of it, everything else,
    all the, all of the, entire, everywhere, all occurrences of, every occurrence of, each
    occurrence of, every instance of, all instances of | 全部 所有 所有的 每个 一切 都 全都 全
    整个 每一项 每项 全部的 到处 各处
both: both, both of them | 两个都 两者 俩
be: is, are, am, was, were, be, been, being, there is, there are, i'm, we're | 是 有 为
have: have, has, had, having, i've, we've, do, does, doing | 有 有了
done_mark: i have, i've, we have, we've, i already, we already, has been, have been, i just |
    我已经 已经 都 我
not: not, no, never, don't, do not, without, none, nothing, neither | 不 没 没有 别 不要 未 无
of: of | 的 之
to: to, into, onto, unto, towards, toward, up to | 到 成 为 给 进 至 往 向 成为 作 到了 入
with: with, containing, including, consisting of, holding, that has, which has, having,
    that contains, filled with, made of | 带 带着 要有 含有 写有 包含 含 里面有 内容是 包括 内容为
    里面是 上面有 有 带有 含有 用 放着 写着
as: as, like | 作为 当作 为 成
in: in, inside, within, under, on, upon, through, across, among | 在 里 里面 中 上 上面 内 之中
    里头 下 下面 底下
leave: keep, leave, leave alone, leave open, keep open, don't touch, do not touch | 保留 留着 留下
    别动 别关 不要动 不动
behind_noun: | 里 里面 中 上 上面 内 之中 里头 下 下面 底下 之前 以前 前面 前 前边 之后 以后 后面
    后 后边
from: from, off, out of, off of | 从 自 由
for: for, about, regarding, concerning, on the topic of, over | 关于 有关 对于 为了 针对 给
at: at | 在 于
by: by, per, via, using, by means of, according to, ordered by, sorted by | 按 按照 以 用 通过
    根据 依 依照
before: before, above, ahead of, in front of | 之前 以前 前面 前 前边
after: after, below, behind, following | 之后 以后 后面 后 后边
between: between | 之间
called: called, named, titled, entitled, labelled, labeled, by the name of, with the name,
    with name, under the name, with the title, under the id, with the id, with id | 叫 叫做 名为
    名叫 标题为 标题是 名字是 称为 取名 名称为 题为 名字叫 叫作 命名为
saying: saying, that says, which says, reading, that reads, to say, stating, that, with the text,
    with text, with the words, with content, with the content, as follows, the text | 写着 内容是
    说 说的是 内容为 写道 文字是 内容 文本是
object: | 把 将 让
occur: occur, occurs, appear, appears, come up, show up, be found, located | 出现
contains: contain, contains, does it say, do they say, it says, mention, include, includes,
    have the word, has the word, have the text, has the text, having the word, with the word,
    with the text | 包含 含有 提到 出现
tagged: tagged, tagged with, with tag, with tags, with the tag, with the tags, under the tag |
    标签为 标签是 带标签 加标签
every: every, each, once every | 每 每隔 每过
because: because, since, so that, as we, given that | 因为 由于 以便 好让
until: until, till | 直到
if: if, whether | 如果 要是 假如 是否
and: and, &, plus, as well as, along with, and also | 和 与 及 以及 跟 还有 加上 同 并 或 外加
or: or | 或 或者 还是
than: than | 比
only: only, just, nothing but, solely | 只 只有 仅 仅仅 光
then: then, but, and then, after that, afterwards, next, thereafter, and after that, followed by,
    subsequently, finally, lastly, and finally, once that is done, once done, and also,
    after which, later | 然后 接着 之后 再 随后 并且 而且 同时 再然后 完了 最后 接下来 之后再
    然后再 并 另外 此外 完了之后 还要 还有就是 顺便 以后 再把 再帮我 再给我
what: what else, what, what is, what are, what're, what does, what do, which, tell me, describe,
    what all | 什么 哪些 哪个 啥 哪几个 在哪 在哪里 在哪儿 哪儿 何处 什么样 告诉我 说说 讲讲
    是什么 有什么 有哪些 是啥 有啥
where: where, where is, where are, where did, where can i find | 在哪 在哪里 在哪儿 哪儿 哪里 何处
howmany: how many, how much, number of, count of, how often | 多少 几个 几项 几条 几样 有几样
    有几 几 有多少 多少个
how: how, how is, how are | 怎么样 如何 怎么 怎样 咋样
is_there: is there, are there, do i have, do we have, have i got, does it have, is, are, do i,
    does, did i, have i, was, has | 有没有 是不是 有无 是否 吗
who: who, whose | 谁 谁的
when: when, what time | 什么时候 何时 几点
why: why | 为什么 为何
last: last, latest, newest, final, most recent, bottom one, hindmost | 最后 最后一个 最后一项
    最后一条 最新 最新的 末尾 最近的 最后的 最后那个 末
first: first one, topmost, top one | 第一 首 首个 最前 最上面的 最前面的 头一个
other: other, others, another one, rest, remaining, else | 其他 其它 另一个 别的 其余 剩下的
    另外那个
one: one, ones | 个 一个 项 条 那项 那条
half: half, halfway, half way | 一半 半
here: here, there | 这里 这儿 那里 那儿
yes: true, yes, on | 是 对 真 开
no: false, no, off | 否 假 关
except: except, except for, everything but, all but, but not, apart from, other than, save for |
    除了 除 以外 之外
exist: what else, anything else, left, remaining, still open, pending, outstanding, open,
    have to do, i have to do, i need to do, i must do, i should do, we have to do, left to do,
    need to do, still to do, to be done, still need, still missing,
    missing | 还差 差 还缺 缺 剩 剩下 还剩 未 剩余
drop: never mind, shut up, nevermind, forget it, forget that, leave it, nothing, no thanks, not now,
    drop it, doesn't matter, skip it, cancel, none of them, neither, nvm | 算了 不用了 没事 没事了
    不必了 当我没说 取消 不要紧 没关系 别管了 就这样吧 都不是
greet: hi, hi there, hello there, hey there, hello, hey, good morning, good evening,
    good afternoon, greetings, howdy, yo, good day, hiya | 你好 您好 嗨 哈喽 早上好
    晚上好 下午好 喂 早安 大家好 哈啰 在吗 在不在
thank: thanks, thank you, thx, cheers, great, nice, perfect, cool, well done, good job, awesome,
    thanks a lot, very good | 谢谢 多谢 感谢 太好了 很好 不错 棒 辛苦了 谢谢你 谢了 太棒了
closing: that is all, that is it, that will be all, that would be all, nothing else, all good,
    all done, that was it | 就这些 就这样 没别的了 没有了 没了
bye: bye, goodbye, see you, good night, farewell | 再见 拜拜 晚安 回见
able: what can you do, what can i do, what do you do, what can you help, how do you work,
    how does this work, help, what are you able to, what can i ask, what can i say,
    how can you help, what else can you do, what commands, what is possible, what windows can,
    which windows can, what kinds of windows, what kind of windows, which kinds of windows,
    what can be opened, what can i open, which classes, what can you open | 你能做什么 你会什么
    你会做什么 能做什么 帮助 怎么用 可以做什么 你能干什么 你可以做什么 有什么功能 能干什么 会什么
    能干嘛 你能干嘛 能打开什么 可以打开什么 能打开哪些 可以打开哪些 能开哪些 能开什么 可以开什么
    可以开哪些 哪些窗口可以 有哪些类型 哪些种类 有什么窗口可以 支持哪些 支持什么
identity: who are you, what are you, are you a real, which model, what model, what is your name,
    are you chatgpt, are you claude, are you an ai, are you a robot, are you human | 你是谁
    你是什么 什么模型 哪个模型 你叫什么 介绍一下你自己 你是机器人 你是不是 自我介绍 你是哪个
"""

PAST = frozenset(
    listed(
        "bought got did made sent paid wrote called took went gave found read fed watered "
        "cleaned fixed finished completed washed cooked booked ordered returned met did ate "
        "drank sold built brought told spoke learned learnt studied mailed picked walked took "
        "cut swept emptied handled bought submitted filed signed shipped done"
    )
)
"""Past forms that say, in a sentence about what "I" did, that something is done."""

ORDINARY = listed(
    "开会 开心 开车 开门 开店 开学 关于 关系 关心 关键 关注 打电话 打扫 打车 打球 打印机 "
    "加班 加油 加州 参加 成功 成绩 成本 成都 完成度 为什么 因为 为了 以为 认为 给予 到底 "
    "迟到 收到 到期 和平 和谐 和睦 不和 暖和 同学 同事 同意 跟进 跟踪 中国 中午 中心 "
    "中间人 其中 上海 上午 上班 上周 上课 下午 下班 下周 下课 下载 线上 网上 晚上 早上 "
    "马上 北京 里程 公里 心里 那里 这里 那么 这么 怎么 什么 是否 还是 可是 但是 于是 不是 "
    "是的 要是 有名 有点 所有 没有 有人 有事 会议 会议室 开会议 把握 火把 将来 将军 即将 "
    "从来 从前 自从 用户 用品 信用 作用 费用 使用说明 按钮 按时 一起 一样 一直 一定 一般 "
    "一共 一旦 一切 十分 百分 千万 万一 三明治 四川 五金 六月 七夕 八卦 九月 二手 面试 "
    "面包 面条 面粉 表面 洗衣服 买菜 做饭 写作业 写作 写信 看病 看书 找工作 发票 发烧 "
    "放假 放学 移民 搬家 选举 数学 数码 算法 行李 银行 旅行 行动 页岩 项链 条件 面条 个人 "
    "个性 个子 名人 著名 新鲜 新闻 新年 重新 创新 改天 改善 换季 调查 调料 空调 强调 设计 "
    "设备 定金 一定要 删繁 去年 去世 过去 拿铁 拿手 取快递 取钱 停车 停电 结束 总结 结婚 "
    "合同 保存期 保险 保证 留学 记者 日记 笔记 登记 标准 目标 标题 完美 完全 完整 好吃 好看 "
    "好友 你好 爱好 正好 牛奶 鸡蛋 豆浆 苹果 香蕉 咖啡 黄油 奶酪 大米 水果 蔬菜 西红柿 "
    "番茄 土豆 牛肉 猪肉 鸡肉 鱼 酸奶 果汁 啤酒 报告 作业 房租 电费 水费 快递 礼物 机票 "
    "车票 电影票 签证 护照 医生 牙医 妈妈 爸爸 老师 老板 经理 小明 小红 会员 生日 蛋糕 "
    "圣诞 家里 家人 会员卡"
)
"""Chinese words that hold a word of the lexicon without meaning it."""

CONTRACTIONS = {
    "what's": "what is", "whats": "what is", "it's": "it is", "that's": "that is",
    "there's": "there is", "where's": "where is", "who's": "who is", "how's": "how is",
    "isn't": "is not", "aren't": "are not", "wasn't": "was not", "doesn't": "does not",
    "didn't": "did not", "i'd": "i would", "we'd": "we would",
    "haven't": "have not", "hasn't": "has not", "hadn't": "had not",
    "can't": "can not", "cannot": "can not", "won't": "will not",
}  # fmt: skip
"""Two words in one."""
