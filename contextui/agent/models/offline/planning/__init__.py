"""From a person's words to calls: each clause in turn, and the next step of the plan.

Begin with `plan`, then `wishing`: what comes of one clause. `talking` knows what is said around
wishes, `needing` and `remarks` what is told in place of one, `arranging` where one ends when the
words do not say. What was said before changes what is meant: `replying` (an answer to a question
back), `correcting` ("no, eggs"), `listing` (what is to be on a list that was just opened),
`going_on` ("go on") and `taking_back` ("undo that"). `rearranging`, `placing` and `moving` put
things in another order.
"""
