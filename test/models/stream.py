"""llm-gateway performer -> accumulator: two owners may stream two answers of the model to the same request at once.
Claims to check: what is folded is one whole attempt, never a splice; folded exactly once, also after crashes; else an explicit failure.
A write that its owner does not wait for lands at any later time, in any order with writes to the other inbox, or never if the owner crashes.

literal    parts carry (gateway, conversation, sequence counted in the state), the accumulator drops what is below its mark;
           the performer writes model-finished to both inboxes, to the gateway's own first
corrected  `opened` and `finished(attempt)` come from the gateway's reducer; parts carry (attempt, part), have no effect of their own;
           the performer writes attempt-started and attempt-finished(parts) to its own inbox only
The attempts of the others wait for neither `opened` nor `started`:
ahead      no part before `opened` is acknowledged, and attempt-finished after all parts are
unordered  a part may land before `opened` of its owner
together   as ahead, but the last part and attempt-finished go out at once, and the accumulator waits for all parts
carried    as together, but attempt-finished carries the parts that are not acknowledged, and the accumulator waits for none"""
from dataclasses import dataclass, replace as _r
from explore import explore
import sys
PARTS, TRIES = 2, 3
ahead = ('ahead', 'unordered', 'together', 'carried')

@dataclass(frozen=True)
class Owner:
    gen: int; pos: int = 0; end0: int = 0; open: bool = False; tries: int = 0; mine: int = 0; sent: int = 0; told: tuple = (); owed: tuple = ()

@dataclass(frozen=True)
class S:
    inbox: tuple = (('request',),); deltas: tuple = (); owners: tuple = (Owner(1),); gen: int = 1; crashes: int = 0; zombies: int = 0

def fold(deltas, v):
    """The accumulator: list of folded answers."""
    out, buffers, mark, opened, wanted = [], {}, -1, v == 'literal', None
    for kind, attempt, i, n in deltas:
        if kind == 'opened': opened = opened or not out
        if v == 'literal':
            if i <= mark: continue
            mark = i
            if kind == 'part': buffers.setdefault(0, []).append((attempt, i))
            if kind == 'finished': out.append(tuple(buffers.pop(0, ())))
        elif kind == 'part' and opened: buffers.setdefault(attempt, {})[i] = (attempt, i)
        elif kind == 'finished' and opened and not out and wanted is None:
            if v == 'carried': buffers.setdefault(attempt, {})[n - 1] = (attempt, n - 1)
            wanted = (attempt, n)
        if wanted is not None and not out:
            got = buffers.get(wanted[0], {})
            if len(got) == wanted[1]: out.append(tuple(got[i] for i in range(wanted[1])))
            elif v != 'together': out.append('cut')
    return out

def steps(v, K, Z):
    def go(s):
        def put(o, **kw): return _r(s, owners=tuple(sorted([x for x in s.owners if x.gen != o.gen] + [o], key=lambda x: x.gen)), **kw)
        for o in s.owners:
            me = f'owner{o.gen}' + ('' if o.gen == s.gen else ' (zombie)')
            if o.pos < len(s.inbox):
                rec, n, d = s.inbox[o.pos], _r(o, pos=o.pos + 1), s.deltas
                if rec[0] == 'request':
                    n = _r(n, open=True)
                    if v in ahead: n = _r(n, owed=n.owed + (('deltas', ('opened', 0, -1, 0)),))
                    elif v != 'literal': d = d + (('opened', 0, -1, 0),)
                if rec[0] == 'started': n = _r(n, tries=n.tries + 1)
                if rec[0] == 'finished' and n.open:
                    n = _r(n, open=False)
                    if v != 'literal': d = d + (('finished', rec[1], -1, rec[2]),)     # a repeat has the same id; fold() takes the first
                if rec[0] == 'started' and n.open and n.tries > TRIES: n, d = _r(n, open=False), d + (('finished', 0, -1, 1),)
                yield 'do', f'{me} reads {rec}', put(n, deltas=d)
            if o.pos == len(s.inbox) and o.pos >= o.end0 and o.open and not o.mine:
                n = _r(o, mine=o.gen)
                if v in ahead: yield 'do', f'{me} starts attempt {o.gen}', put(_r(n, owed=n.owed + (('inbox', ('started', o.gen)),)))
                else: yield 'do', f'{me} starts attempt {o.gen}', put(n, **({} if v == 'literal' else {'inbox': s.inbox + (('started', o.gen),)}))
            for at, (to, rec) in enumerate(o.owed):
                if any(other == to for other, _ in o.owed[:at]): continue     # one inbox gets the writes of one owner in their order
                n = _r(o, owed=o.owed[:at] + o.owed[at + 1:])
                yield 'do', f'{me}: {rec} lands', put(n, **({'deltas': s.deltas + (rec,)} if to == 'deltas' else {'inbox': s.inbox + (rec,)}))
            isOpened = v not in ahead or v == 'unordered' or not any(rec[0] == 'opened' for _, rec in o.owed)
            acknowledged = PARTS if v not in ('together', 'carried') else PARTS - 1
            if o.mine and o.sent < acknowledged and isOpened:
                yield 'do', f'{me} streams part {o.sent} of attempt {o.mine}', put(_r(o, sent=o.sent + 1), deltas=s.deltas + (('part', o.mine, o.sent, 0),))
            if o.mine and o.sent == acknowledged and len(o.told) < (2 if v == 'literal' else 1) and isOpened:
                n = _r(o, told=o.told + (1,))
                if acknowledged < PARTS:
                    last = ('deltas', ('part', o.mine, o.sent, 0)), ('inbox', ('finished', o.mine, PARTS))
                    yield 'do', f'{me} sends part {o.sent} and finished', put(_r(n, owed=n.owed + last))
                elif not o.told: yield 'do', f'{me} writes finished to the gateway inbox', put(n, inbox=s.inbox + (('finished', o.mine, PARTS),))
                else: yield 'do', f'{me} writes finished to the accumulator', put(n, deltas=s.deltas + (('finished', o.mine, PARTS, 0),))
            if s.crashes < K: yield 'fault', f'{me} CRASHES', _r(s, owners=tuple(x for x in s.owners if x.gen != o.gen), crashes=s.crashes + 1)
        new = Owner(s.gen + 1, end0=len(s.inbox))
        if not any(o.gen == s.gen for o in s.owners): yield 'do', f'owner{new.gen} takes over', put(new, gen=new.gen)
        elif s.zombies < Z: yield 'fault', f'owner{s.gen} is paused, owner{new.gen} takes over', put(new, gen=new.gen, zombies=s.zombies + 1)
    return go

def check(title, v, K, Z):
    def broken(s):
        for got in fold(s.deltas, v):
            if got == 'cut' or len({a for a, _ in got}) != 1 or [i for _, i in got] != list(range(PARTS)): return f'folded a splice or a torso: {got}'
        if len(fold(s.deltas, v)) > 1: return 'folded twice'
    def settled(s):
        if not fold(s.deltas, v): return 'stuck: nothing folded'
    return explore(title, S(), steps(v, K, Z), broken, settled)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('literal page, 1 zombie', 'literal', 0, 1)
        check('literal page, 1 crash', 'literal', 1, 0)
        check('unordered, no fault', 'unordered', 0, 0)
        check('together, no fault', 'together', 0, 0)
        check('together, 1 crash', 'together', 1, 0)
    if part in ('all', 'fixed'):
        check('corrected, 2 crashes', 'corrected', 2, 0)
        check('corrected, 1 crash, 1 zombie', 'corrected', 1, 1)
        check('corrected, 2 zombies', 'corrected', 0, 2)
    for v in ('ahead', 'carried'):
        if part in ('all', v):
            check(f'{v}, 1 crash', v, 1, 0)
            check(f'{v}, 1 zombie', v, 0, 1)
            check(f'{v}, 2 crashes', v, 2, 0)
    if part in ('all', 'both'):
        for v in ('ahead', 'carried'): check(f'{v}, 1 crash, 1 zombie', v, 1, 1)
