"""Turns of a guest: where one ends and the next begins, at the stage `guest`. Two fronts (replicas of a proxy), one guest, two or three turns.
Every answer of the model is the same call, and the count of a round key begins anew in each turn. So the first rounds of two turns have one key.

    python3 guests_turns.py holes    # each rule left out: prints the shortest history that breaks (seconds)
    python3 guests_turns.py fixed    # all rules, each fault alone and some together (minutes)

guest-events (one log):  round(turn key, key)  result(turn key, key, value)  ask(turn key, request, keys of this turn, last result, turn before)
                         end(turn key, or '-' from a front that does not know it; last result)  done(number, value)  failed(turn number)
A turn of the guest ends by its reply, by the next user message (interrupt), or by `end`. Validator, loop-detector and executor are one step here: a
round that has its result comes back as `done`. guests.py has them apart. Faults: a front crashes; a record arrives twice, the second time late; the
guest retries through the other front and may get another answer; a front names the turn by another key (`rename`: a reminder in its text changed);
the turn fails inside Weir; the guest goes on after its reply, under the same turn key; the stage drops records beyond its bound.

Claims, for every interleaving: a result reaches its own round only; no round is judged twice; a closed turn opens again only by a request;
no request of the running turn is refused as closed; at the end every round that a later request showed is judged, under its own turn; a turn that its guest has ended is over. Without
faults each judged round has its own result, also the last one of a turn that the next user message has cut.

`off` leaves a rule out:
  closed   the stage forgets the keys of closed turns             first    a known round key counts before the closed turn keys are looked up
  opens    only a round opens a turn, not a before-model record   known    a record with a known key and a new turn key opens a turn
  alias    another key of the open turn is not closed with it     over     a turn closes while its round is outstanding
  return   a before-model record does not open a closed turn again
  reopen   a turn that ended by its reply or by `end` is closed   lost     a failed turn forgets its keys
  answers  a failure answers no waiting request                   again    a front does not repeat a request that the stage has dropped
  newest   an end without the key of its turn ends none           stale    a front that has not seen the turn names the one that it saw last
  former   the first request of a turn shows no result of the turn before           whose    it counts also for a turn that is not the one before"""
from dataclasses import dataclass, replace as _r
from explore import explore
import sys

UNKNOWN, LOST, TEXT = 'unknown', 'lost', 'text'

@dataclass(frozen=True)
class Turn:
    number: int; key: tuple; live: bool = True; names: tuple = (); known: tuple = (); prompt: str = ''

@dataclass(frozen=True)
class S:
    log: tuple = (); pos: int = 0
    turn: Turn = None; closed: tuple = (); out: tuple = (); pend: tuple = (); numbers: int = 0; keys: tuple = ()
    rounds: tuple = (); judged: tuple = (); back: tuple = (); advice: tuple = (); dropped: tuple = ()
    queues: tuple = ((), ()); handlers: tuple = ((), ())
    at: int = 0; history: tuple = (); past: tuple = (); left: tuple = (); waits: int = -1; asks: int = 0; fin: bool = False
    crashes: int = 0; dups: int = 0; retries: int = 0; others: int = 0; renames: int = 0; failures: int = 0; further: int = 0
    denied: tuple = (); hasty: bool = False; cut: bool = False; stolen: bool = False

def put(t, i, v): return t[:i] + (v,) + t[i + 1:]

def key_of(history, words): return (words, 1 + sum(1 for k, _ in history if k[0] == words))

def place(s, rec, off):
    """Which turn a record belongs to: own, closed or new."""
    t, turn = rec[1], s.turn
    if turn and t in (turn.key,) + turn.names: return 'own'
    closed = t in s.closed and 'closed' not in off
    if closed and 'first' not in off: return 'new' if rec[0] == 'ask' and 'return' not in off else 'closed'
    named = {rec[2]} if rec[0] in ('round', 'result') else set(rec[3][:1]) if rec[0] == 'ask' else set()    # the oldest one
    if turn and turn.live and 'known' not in off and named & {k for k, _ in turn.known}: return 'alias'
    return 'closed' if closed and (rec[0] != 'ask' or 'return' in off) else 'new'

def ends(s, off):
    """The turn is over, but a new round of it opens it again."""
    if 'reopen' in off: return _r(s, closed=s.closed + (s.turn.key,) + s.turn.names, turn=None)
    return _r(s, turn=_r(s.turn, live=False))

def answer(s, request, unknown, is_open): return _r(s, advice=s.advice + ((request, unknown, is_open),))

def take(s, rec, off, bound):
    if rec[0] == 'done':
        if not s.out or s.out[0] != rec[1]: return s
        s = _r(s, judged=s.judged + ((rec[1], rec[2]),), out=())
        if rec[2] == TEXT: s = ends(s, off)
    elif rec[0] == 'failed':
        if not s.turn or not s.turn.live or s.turn.number != rec[1]: return s
        if s.out: s = _r(s, judged=s.judged + ((s.out[0], LOST),), out=())
        s = _r(s, turn=_r(s.turn, live=False, known=s.turn.known if 'lost' not in off else ()))
        if 'answers' in off: s = _r(s, pend=())
    elif len(s.pend) < bound: s = _r(s, pend=s.pend + (rec,))
    else: s = _r(s, dropped=s.dropped + (rec,))
    while s.pend:
        s, waits = attempt(s, s.pend[0], off)
        if waits: break
        s = _r(s, pend=s.pend[1:])
    return s

def shown_before(s, rec, off):
    """The result of the outstanding round in the turn before the one that a request begins."""
    if rec[0] != 'ask' or not rec[5] or 'former' in off: return UNKNOWN
    prompt, keys, (key, value) = rec[5]
    return value if s.out[1] == key and ('whose' in off or s.turn.prompt == prompt) else UNKNOWN

def report(s, value): return _r(s, out=s.out[:2] + (True,), back=s.back + (('done', s.out[0], value),))

def attempt(s, rec, off):
    where = place(s, rec, off)
    if rec[0] == 'end' and rec[1] == '-':
        if not s.turn or 'newest' in off: return s, False
        where = 'own'
    if where == 'closed': return (answer(s, rec[2], (), False) if rec[0] == 'ask' else s), False
    if where == 'new':
        if rec[0] not in ('ask', 'round') or rec[0] == 'ask' and 'opens' in off and s.turn:
            return (answer(s, rec[2], (), True) if rec[0] == 'ask' else s), False
        if s.out and 'over' not in off: return (s if s.out[2] else report(s, shown_before(s, rec, off))), True    # the former turn's round ends first
        s = _r(s, stolen=s.stolen or rec[0] != 'ask' and rec[1] in s.keys)
        former = (s.turn.key,) + (s.turn.names if 'alias' not in off else ()) if s.turn else ()
        s = _r(s, closed=s.closed + former, numbers=s.numbers + 1, keys=s.keys + (rec[1],), turn=Turn(s.numbers + 1, rec[1]), out=())
    if where == 'alias': s = _r(s, turn=_r(s.turn, names=s.turn.names + (rec[1],)))
    known = dict(s.turn.known)
    if rec[0] == 'round':
        if rec[2] in known: return s, False
        if s.out: return (s if s.out[2] else report(s, UNKNOWN)), True
        if not s.turn.live: s = _r(s, numbers=s.numbers + 1, turn=_r(s.turn, number=s.numbers + 1, live=True))
        number = len(s.rounds) + 1
        s = _r(s, rounds=s.rounds + ((number, rec[3]),), out=(number, rec[2], False), turn=_r(s.turn, known=s.turn.known + ((rec[2], number),)))
        return (report(s, TEXT) if rec[2][0] == 'r' else s), False
    if rec[0] == 'result': return (report(s, rec[3]) if s.out and not s.out[2] and s.out[1] == rec[2] else s), False
    if rec[0] == 'end':
        if rec[2] and s.out and not s.out[2] and s.out[1] == rec[2][0]: s = report(s, rec[2][1])
        if s.out: return (s if s.out[2] else report(s, UNKNOWN)), True
        return (ends(s, off) if s.turn.live else s), False
    _, _, request, keys, last, _ = rec
    s = _r(s, turn=_r(s.turn, prompt=rec[1]))
    if s.out and not s.out[2] and s.out[1] in keys[:-1]: s = report(s, UNKNOWN)
    if s.out and not s.out[2] and last and last[0] == s.out[1]: s = report(s, last[1])
    unknown = tuple(k for k in keys if k not in known)
    if s.out and s.out[1] in keys and not unknown: return s, True
    over = {known[k] for k in keys if k in known} <= {n for n, _ in s.judged}
    return _r(answer(s, request, unknown, True), hasty=s.hasty or not unknown and not over), False

def steps(turns, N, off, C, D, R, B, J, F, G, reply, interrupt, bound, nameless):
    def ask(s, f, t, history, phase):
        at = turns.index(t.strip("'"))
        left = s.left[at - 1] if at else ()
        former = (turns[at - 1], tuple(k for k, _ in left), left[-1]) if left and not history and left[-1][0][0] != 'r' else ()
        rec = ('ask', t, s.asks, tuple(k for k, _ in history), history[-1] if history else (), former)
        return _r(s, asks=s.asks + 1, queues=put(s.queues, f, s.queues[f] + (rec,)), handlers=put(s.handlers, f, (phase, s.asks, t, history, s.at)))
    def front(s, f):
        h = s.handlers[f]
        if not h: return
        name = f'front {"PQ"[f]}'
        phase, request, t, history, at = h
        for d in s.dropped:
            if d[0] == 'ask' and d[2] == request and 'again' not in off and len(s.pend) < bound:
                yield 'do', f'{name} asks again: no answer came', _r(ask(s, f, t, history, phase), dropped=tuple(x for x in s.dropped if x != d))
        for _, unknown, is_open in [a for a in s.advice if a[0] == request]:
            if not is_open:
                live = s.waits == f or phase == 'catch'
                yield 'do', f'{name} reads that {t} is closed', _r(s, handlers=put(s.handlers, f, ()), waits=-1 if s.waits == f else s.waits, denied=s.denied + ((t,) if live else ()))
            elif unknown:
                recs = tuple(r for k, truth in history if k in unknown for r in (('round', t, k, truth), ('result', t, k, truth)))
                more = _r(s, queues=put(s.queues, f, s.queues[f] + recs))
                yield 'do', f'{name} sends rounds that the log does not know: {unknown}', ask(more, f, t, history, phase)
            elif phase == 'catch':
                rec = ('end', t, history[-1] if history and history[-1][0][0] != 'r' else ())
                if not nameless: yield 'do', f'{name} is done and ends the turn', _r(s, handlers=put(s.handlers, f, ()), queues=put(s.queues, f, s.queues[f] + (rec,)), fin=True)
                else:
                    for g in (0, 1):
                        rec = ('end', '-' if 'stale' not in off or g == f else turns[at - 1], ())
                        yield 'do', f'the guest ends its turn through {"PQ"[g]}', _r(s, handlers=put(s.handlers, f, ()), queues=put(s.queues, g, s.queues[g] + (rec,)), fin=True)
            else:
                calls = sum(1 for k, _ in history if k[0] != 'r')
                for words in ('a', 'b') if s.others < B and s.retries else ('a',):
                    words = 'r' if reply and calls >= N else words
                    key = key_of(history, words); truth = (at,) + key
                    n = _r(s, queues=put(s.queues, f, s.queues[f] + (('round', t, key, truth),)), others=s.others + (words == 'b'), handlers=put(s.handlers, f, ()))
                    if s.waits == f: n = _r(n, waits=-1, history=s.history + ((key, truth),))
                    yield 'do', f'{name}: the model answers {truth}', n
                    if words == 'b': break
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
        replied = s.history and s.history[-1][0][0] == 'r'
        calls = sum(1 for k, _ in s.history if k[0] != 'r')
        last = s.at == len(turns) - 1
        final = last and (replied or not reply and calls >= N)
        if s.waits < 0 and not s.fin:
            t = turns[s.at]
            if (not replied and (reply or calls < N)) and not s.denied:
                for f in (0, 1):
                    if s.handlers[f] or f and not s.asks: continue                # the fronts are equal, so P is the first
                    yield 'do', f'the guest asks its model through {"PQ"[f]} in turn {t} with {len(s.history)} rounds', _r(ask(s, f, t, s.history, 'advice'), waits=f)
                    if s.renames < J: yield 'fault', f"the guest asks through {'PQ'[f]}, which names the turn {t}'", _r(ask(s, f, t + "'", s.history, 'advice'), waits=f, renames=s.renames + 1)
            if replied and s.further < G:
                for f in (0, 1):
                    if not s.handlers[f]: yield 'fault', f'the guest goes on after its reply through {"PQ"[f]}', _r(ask(s, f, t, s.history, 'advice'), waits=f, further=s.further + 1)
            if final and not s.denied and not any(h and h[0] == 'catch' for h in s.handlers):
                for f in (0, 1):
                    if not s.handlers[f]: yield 'do', f'the guest shows its history once more through {"PQ"[f]}', ask(s, f, t, s.history, 'catch')
        if not last and (s.waits < 0 and (replied or not reply and calls >= N) or interrupt):
            kind = 'do' if s.waits < 0 and (replied or calls >= N) else 'env'
            yield kind, f'the user writes: turn {turns[s.at + 1]}', _r(s, at=s.at + 1, past=s.past + tuple(t for _, t in s.history), left=s.left + (s.history,), history=(), waits=-1, cut=s.cut or kind == 'env')
        if s.waits >= 0 and s.retries < R and not s.handlers[1 - s.waits]:
            yield 'fault', f'the guest gives up and asks again through {"PQ"[1 - s.waits]}', _r(ask(s, 1 - s.waits, turns[s.at], s.history, 'advice'), waits=1 - s.waits, retries=s.retries + 1)
        if s.pos < len(s.log): yield 'do', f'guest reads {s.log[s.pos]}', take(_r(s, pos=s.pos + 1), s.log[s.pos], off, bound)
        for b in s.back[:1]: yield 'do', f'the outcome {b} comes back', _r(s, log=s.log + (b,), back=s.back[1:])
        if s.failures < F and s.out: yield 'fault', f'turn {s.turn.number} fails inside Weir', _r(s, log=s.log + (('failed', s.turn.number),), failures=s.failures + 1)
    return go

def check(title, turns=('x', 'y'), N=1, off=(), C=0, D=0, R=0, B=0, J=0, F=0, G=0, reply=False, interrupt=False, bound=9, rest=12, nameless=False, cap=1_500_000):
    off = frozenset(off)
    def broken(s):
        if s.hasty: return 'a front went on before the last round of its history was judged'
        if s.denied: return f'a request of the running turn {s.denied[0]} was refused as closed'
        if s.asks > rest: return f'{s.asks} requests: rounds are sent again and again'
        truths = [t for _, t in s.rounds]
        # A turn that another turn has closed and that comes back begins with an empty memory, so its rounds are sent once more.
        came = [k for k, former in zip(s.keys, ('',) + s.keys) if k != former]
        back = {k.strip("'") for k in came if came.count(k) > 1}
        twice = [t for t in set(truths) if truths.count(t) > 1 and turns[t[0]] not in back]
        if twice: return f'{twice[0]} was judged under two numbers'
        for number, value in s.judged:
            if value not in (UNKNOWN, LOST, TEXT) and dict(s.rounds)[number] != value: return f'the result of {value} reached the call of {dict(s.rounds)[number]}'
        if len({n for n, _ in s.judged}) < len(s.judged): return 'a round was given two results'
        if s.stolen: return f'a closed turn opened again without a request of its guest: {s.keys}'
    def settled(s):
        # A round that nobody shows any more may stay open: its deadline ends it.
        if any(s.handlers) or s.pend: return f'stuck: a front waits for ever ({[h[:3] for h in s.handlers if h]}), or records wait'
        # A late copy can open a turn after the end. It ends when it has been idle.
        if s.fin and s.turn and s.turn.live and not (C or D or R or J or s.cut): return f'the turn {s.turn.key} is open although its guest has ended it'
        judged = dict(s.judged)
        # A turn that comes back has its rounds under two numbers. The newest one that is over counts.
        over = {t: judged[n] for n, t in s.rounds if n in judged}
        for number, truth in s.rounds:
            if number not in judged and (number,) != s.out[:1]: return f'{truth} has no result'
        for truth in s.past + tuple(t for _, t in s.history):
            # The last round of a left turn is not sent again, if the log lacks it when the next request comes.
            is_last = truth in [h[-1][1] for h in s.left if h]
            if truth not in over and not is_last: return f'{truth} was never judged'
            if over.get(truth) == UNKNOWN and not (s.retries or s.renames and s.dups or is_last and (s.crashes or s.dups or s.renames)): return f'{truth} is unknown although its result was reported'
    return explore(title, S(), steps(turns, N, off, C, D, R, B, J, F, G, reply, interrupt, bound, nameless), broken, settled, cap=cap)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('left out: closed turn keys', off=['closed'], D=1)
        check('left out: closed before known', off=['first'], D=1, N=2)
        check('left out: a before-model record opens a turn', off=['opens'])
        check('left out: known key under a new turn key', turns='x', off=['known'], J=1, N=2)
        check('left out: the other key is closed too', off=['alias'], J=1, D=1, N=2)
        check('left out: over (a turn closes beside its round)', off=['over'])
        check('left out: return (a late request of an older turn)', off=['return'], interrupt=True)
        check('left out: reopen, the guest goes on', turns='x', off=['reopen'], G=1, reply=True)
        check('left out: reopen, the reply was lost', turns='x', off=['reopen'], R=1, B=1, reply=True)
        check('left out: lost (a failed turn keeps its keys)', off=['lost'], F=1)
        check('left out: answers (a failure answers a waiting request)', off=['answers'], F=1)
        check('left out: again (a dropped request is repeated)', off=['again'], R=1, bound=1)
        check('left out: newest (an end by a front that does not know the turn)', off=['newest'], nameless=True)
        check('left out: stale (an end by a front that knows an older turn)', off=['stale'], nameless=True)
        check('left out: former (the request of the next turn has the last result)', off=['former'])
        check('left out: whose (the turn before, and no older one)', turns=('x', 'y', 'z'), off=['whose'], C=1, interrupt=True)
    if part in ('all', 'fixed'):
        check('complete, no fault, 3 turns', turns=('x', 'y', 'z'))
        check('complete, no fault, 2 turns of 2 rounds', N=2)
        check('complete, 2 turns with replies', reply=True)
        check('complete, an end without a key', nameless=True)
        check('complete, an end without a key, 1 duplicate', nameless=True, D=1)
        check('complete, an end without a key, 1 failure', nameless=True, F=1)
        check('complete, interrupts', interrupt=True)
        check('complete, 1 duplicate', D=1)
        check('complete, 1 crash', C=1)
        check('complete, 1 failure', F=1)
        check('complete, 1 retry, another answer', R=1, B=1)
        check('complete, 1 turn of 2 rounds, 1 rename', turns='x', J=1, N=2)
        check('complete, 1 turn with a reply, goes on', turns='x', G=1, reply=True)
        check('complete, 1 turn with a reply, 1 retry, another answer', turns='x', R=1, B=1, reply=True)
        check('complete, 1 turn, a bound of 1, 1 retry', turns='x', R=1, bound=1)
        check('complete, 1 turn of 2 rounds, 1 rename, 1 duplicate', turns='x', J=1, D=1, N=2)
        check('complete, 2 turns, 1 rename, 1 duplicate', J=1, D=1)
