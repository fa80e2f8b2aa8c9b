"""Guests whose host rewrites its history: what the model sent as `a` is shown as `A`. The rest is as in guests.py, with a shorter way through the executor.

    python3 guests_rewrites.py holes    # each rule left out: prints the shortest history that breaks (seconds)
    python3 guests_rewrites.py fixed    # all rules, each fault alone and some together (about 2 minutes)

A round's key is (words, count, ids). The words of an answer are the model's own, those of a history the host's. Ids are fresh for each answer, or
always the same (`fixed`). The host may drop the older half of its history once (H), and the guest may give up and ask again (R), after which the
model may give another answer (B). Two fronts, late and doubled writes (D), crashes (C), requests that wait for no advice (T).

Claims, for every interleaving: a result reaches its own round or none; one round is outstanding at a time; at the end each round of the guest's
history is judged. With fresh ids and without a crash or a retry: each round is judged once, with its own result.

`off` leaves a rule out:
  ids     a round of a history whose ids are those of one known round is that round
  once    ids name no round if the history, or the log, has them in two rounds
  asked   ids name no round at a place of the history where the model was asked twice
  shown   a round that a front takes from a history says so, and the ids count for it as well
  late    a round whose own record comes after one from a history is that round, if its ids and its place in the history are the same
Known limits: a model whose ids repeat behind a host whose rewriting no profile declares has its rounds judged twice. So has a round whose own record
comes after one from a history, if the host drops the round before it in between."""
from dataclasses import dataclass, replace as _r
from explore import explore
import sys

UNKNOWN = 'unknown'

@dataclass(frozen=True)
class S:
    log: tuple = (); pos: int = 0
    known: tuple = (); out: tuple = (); pend: tuple = ()                         # the reducer: (key, number), (number, key, reported), records
    asked: tuple = (); alias: tuple = (); taken: tuple = ()                     # (place, request); (key, key of the round that it is); (key, place) of rounds from histories
    slow: tuple = (); judged: tuple = (); opened: tuple = ()                     # results on their way back; (number, value); (number, truth)
    advice: tuple = (); queues: tuple = ((), ()); handlers: tuple = ((), ())
    history: tuple = ()                                                         # what the host shows: (words, id, truth)
    life: int = 0; made: int = 0; waits: int = -1; asks: int = 0; fin: bool = False; second: bool = False
    crashes: int = 0; dups: int = 0; retries: int = 0; timeouts: int = 0; others: int = 0; halves: int = 0

def put(t, i, v): return t[:i] + (v,) + t[i + 1:]

def keys_of(history):
    words = [w for w, _, _ in history]
    return tuple((w, 1 + words[:i].count(w), ident) for i, (w, ident, _) in enumerate(history))

def same(s, key, place, off, among=()):
    """The key of the known round that a round of a history is. Its own key: none."""
    known = [k for k, _ in s.known]
    if key in dict(s.alias): return dict(s.alias)[key]
    if key in known or 'ids' in off: return key
    twins = [k for k in known if k[2] == key[2]]
    if 'once' in off: return twins[-1] if twins else key
    if len(twins) != 1 or sum(1 for k in among if k[2] == key[2]) > 1: return key
    if 'asked' not in off and len({r for p, r in s.asked if p == place}) > 1: return key
    return twins[0]

def place_of(keys, i): return keys[i - 1] if i else None

def recognised(s, keys, off):
    """Remembers which known rounds a history shows under other words."""
    for i, key in enumerate(keys):
        own = same(s, key, place_of(keys, i), off, keys)
        if own != key and key not in dict(s.alias): s = _r(s, alias=s.alias + ((key, own),))
    return s

def take(s, rec, off):
    if rec[0] == 'done':
        s = _r(s, judged=s.judged + (rec[1:],), out=() if s.out and s.out[0] == rec[1] else s.out)
    else: s = _r(s, pend=s.pend + (rec,))
    while s.pend:
        s, waits = attempt(s, s.pend[0], off)
        if waits: break
        s = _r(s, pend=s.pend[1:])
    return s

def report(s, value): return _r(s, out=s.out[:2] + (True,), slow=s.slow + (('done', s.out[0], value),))

def attempt(s, rec, off):
    if rec[0] == 'round':
        _, key, truth, place, shown = rec
        own = key
        if shown and 'shown' not in off: own = same(s, key, place, off, shown)
        elif not shown and 'late' not in off and key not in dict(s.known):
            # Its own record comes after one that a front took from a history.
            twins = [k for k, _ in s.known if k[2] == key[2]]
            if len(twins) == 1 and (twins[0], place) in s.taken and len({r for p, r in s.asked if p == place}) == 1: own = twins[0]
        if own != key: s, key = _r(s, alias=s.alias + ((key, own),)) if key not in dict(s.alias) else s, own
        if key in dict(s.known): return s, False
        if s.out: return (s if s.out[2] else report(s, UNKNOWN)), True
        number = len(s.opened) + 1
        if shown: s = _r(s, taken=s.taken + ((key, place),))
        return _r(s, known=s.known + ((key, number),), out=(number, key, False), opened=s.opened + ((number, truth),)), False
    if rec[0] == 'result':
        return (report(s, rec[2]) if s.out and not s.out[2] and s.out[1] == dict(s.alias).get(rec[1], rec[1]) else s), False
    _, request, keys, result = rec
    if (place_of(keys, len(keys)), request[0]) not in s.asked: s = _r(s, asked=s.asked + ((place_of(keys, len(keys)), request[0]),))
    s = recognised(s, keys, off)
    mine = tuple(dict(s.alias).get(k, k) for k in keys)
    if s.out and not s.out[2] and s.out[1] in mine[:-1]: s = report(s, UNKNOWN)
    if s.out and not s.out[2] and mine and s.out[1] == mine[-1]: s = report(s, result)
    known = dict(s.known)
    unknown = tuple(k for k, m in zip(keys, mine) if m not in known)
    if s.out and s.out[1] in mine and not unknown: return s, True
    return _r(s, advice=s.advice + ((request, unknown),)), False

def steps(N, fixed, off, C, D, R, T, B, H):
    def ask(s, f, history, phase, name=None):
        """`name`: of the request of the guest. The front's repeats after catching up have it too."""
        name = s.asks if name is None else name
        rec = ('ask', (name, s.asks), keys_of(history), history[-1][2] if history else ())
        return _r(s, asks=s.asks + 1, queues=put(s.queues, f, s.queues[f] + (rec,)), handlers=put(s.handlers, f, (phase, (name, s.asks), history, s.life)))
    def front(s, f):
        h = s.handlers[f]
        if not h: return
        name = f'front {"PQ"[f]}'
        phase, request, history, life = h
        got = [u for r, u in s.advice if r == request]
        if not got and not (s.timeouts < T and phase == 'advice'): return
        missing, keys = got[0] if got else (), keys_of(history)
        if missing:
            recs = ()
            for i, k in enumerate(keys):
                if k in missing: recs += (('round', k, history[i][2], place_of(keys, i), keys), ('result', k, history[i][2]))
            n = _r(s, queues=put(s.queues, f, s.queues[f] + recs))
            yield 'do', f'{name} sends rounds that the log does not know: {missing}', ask(n, f, history, phase, request[0])
        elif phase == 'catch': yield 'do', f'{name} is done', _r(s, handlers=put(s.handlers, f, ()), fin=True)
        else:
            for words in ('a', 'b') if s.others < B and s.retries else ('a',):
                ident = 0 if fixed else s.made + 1
                truth = (words, life + 1, ident)
                key = (words, 1 + sum(1 for w, _, _ in history if w == words), ident)
                n = _r(s, made=s.made + 1, queues=put(s.queues, f, s.queues[f] + (('round', key, truth, place_of(keys, len(keys)), ()),)), handlers=put(s.handlers, f, ()), others=s.others + (words == 'b'), timeouts=s.timeouts + (not got))
                if s.waits == f: n = _r(n, waits=-1, life=life + 1, history=s.history + ((words.upper(), ident, truth),))
                yield 'do' if got else 'fault', f'{name}: the model answers {truth}', n
    def go(s):
        for f in (0, 1):
            name = f'front {"PQ"[f]}'
            yield from front(s, f)
            if s.queues[f]:
                rec, rest = s.queues[f][0], s.queues[f][1:]
                yield 'do', f'{name} writes {rec}', _r(s, log=s.log + (rec,), queues=put(s.queues, f, rest))
                if s.dups < D: yield 'fault', f'{name} writes {rec}, which will arrive once more', _r(s, log=s.log + (rec,), queues=put(s.queues, f, rest + (rec,)), dups=s.dups + 1)
            if s.crashes < C and (s.queues[f] or s.handlers[f]):
                yield 'fault', f'{name} CRASHES', _r(s, queues=put(s.queues, f, ()), handlers=put(s.handlers, f, ()), waits=-1 if s.waits == f else s.waits, crashes=s.crashes + 1)
        over = s.life >= N
        if s.waits < 0 and not s.fin and not (over and any(h and h[0] == 'catch' for h in s.handlers)):
            for f in (0, 1):
                if not s.handlers[f] and (s.asks or not f): yield 'do', f'the guest asks its model through {"PQ"[f]} with {len(s.history)} rounds', _r(ask(s, f, s.history, 'catch' if over else 'advice'), waits=-1 if over else f)
            if s.halves < H and len(s.history) > 1 and not any(s.queues):   # a place in the history is another one behind it
                yield 'env', 'the host drops the older half of its history', _r(s, history=s.history[len(s.history) // 2:], halves=s.halves + 1)
        if s.waits >= 0 and s.retries < R and not s.handlers[1 - s.waits]:
            yield 'fault', f'the guest gives up and asks again through {"PQ"[1 - s.waits]}', _r(ask(s, 1 - s.waits, s.history, 'advice'), waits=1 - s.waits, retries=s.retries + 1)
        if s.pos < len(s.log): yield 'do', f'guest reads {s.log[s.pos]}', take(_r(s, pos=s.pos + 1), s.log[s.pos], off)
        if s.slow: yield 'do', f'{s.slow[0]} comes back', _r(s, log=s.log + (s.slow[0],), slow=s.slow[1:])
    return go

def check(title, N=2, fixed=False, off=(), C=0, D=0, R=0, T=0, B=0, H=0, late=True, cap=3_000_000):
    """`late`: false, if the claims for fresh ids are to hold although writes of two fronts overtake each other."""
    off = frozenset(off)
    def broken(s):
        truth = dict(s.opened)
        for number, value in s.judged:
            if value != UNKNOWN and value != truth[number]: return f'the result of {value} reached the call of {truth[number]}'
        if len({n for n, _ in s.judged}) < len(s.judged): return 'a round was given two results'
        if not fixed and not (C or R or T):
            twice = [t for _, t in s.opened if sum(1 for _, u in s.opened if u == t) > 1]
            if twice: return f'{twice[0]} was judged under two numbers'
    def settled(s):
        if any(s.handlers) or s.pend: return f'stuck: {[h[:2] for h in s.handlers if h]}, {s.pend}'
        values = {}
        for number, truth in s.opened: values.setdefault(truth, []).append(dict(s.judged).get(number))
        for _, _, truth in s.history:
            if truth not in values and not (fixed and (s.halves or s.retries or s.crashes or s.timeouts)): return f'{truth} was never judged'
            if not fixed and not (C or R or T or H) and values[truth] != [truth]: return f'{truth} has the results {values[truth]}'
    return explore(title, S(), steps(N, fixed, off, C, D, R, T, B, H), broken, settled, cap=cap)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('left out: ids', off=['ids'])
        check('left out: once, ids repeat', off=['once'], fixed=True)
        check('left out: asked, ids repeat, one retry with another answer', off=['asked'], fixed=True, R=1, B=1)
        check('left out: shown', off=['shown'], N=1)
        check('left out: late', off=['late'], N=1)
    if part in ('all', 'fixed'):
        check('fresh ids, 3 rounds', N=3)
        check('fresh ids, 4 rounds, the older half dropped', N=4, H=1)
        check('fresh ids, 1 duplicate', D=1)
        check('fresh ids, 1 crash', C=1)
        check('fresh ids, 1 retry with another answer', R=1, B=1)
        check('fresh ids, 1 request that waits for no advice', T=1)
        check('ids repeat, 3 rounds', N=3, fixed=True)
        check('ids repeat, 4 rounds, the older half dropped', N=4, fixed=True, H=1)
        check('ids repeat, 1 duplicate', fixed=True, D=1)
        check('ids repeat, 1 crash', fixed=True, C=1)
        check('ids repeat, 1 retry with another answer', fixed=True, R=1, B=1)
        check('ids repeat, 1 retry with another answer, the older half dropped', N=3, fixed=True, R=1, B=1, H=1)
