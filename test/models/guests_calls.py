"""Calls of a guest's rounds: two calls in each round, guards that let them wait, results through several fronts. One turn, two fronts, one guest.
Every round has the same calls under the same call ids (`cd`: two ids; `cc`: both calls have one id).

    python3 guests_calls.py holes    # each rule left out: prints the shortest history that breaks (seconds)
    python3 guests_calls.py fixed    # all rules, each fault alone and some together (minutes)

guest-events (one log):  round(key)  result(key or '', call id, occurrence of that id, value, status)  ask(request, keys, results of the last, hidden keys)
                         done(number, values)  cancel
executor's inbox:        clear (passes validator and loop-detector, so it may arrive late) | outcome(number, ordinal, value, status) | again(number) | cancel
A call is waiting (for guards), offered (the guest may run it) or done. Activity has the verdicts of a whole round, and the advice on a round that is over.
A front reads activity only from the moment of its own request (`again` exists for that).

Modes:  observing   calls run at once, and the round waits for nobody  hooks  each call runs after its own verdict and reports as it ends
        veto        a round runs as a whole, or the front hides it and asks the model again; its other calls are reported `error`: an offered call is never `skipped`
Faults: a front crashes; a record arrives twice, the second time late; the guest retries through the other front; a hook fails open (the call runs
without a verdict); a front gives up (its client leaves, or has a `no`); an operator cancels; a guard refuses.

Claims, for every interleaving: a result is the call's own, Weir's refusal, or unknown; a call runs only if its guards let it, unless a hook failed
open; a call that was skipped, or refused for a front that observes, never ran; no call is offered after a cancel; nothing is stuck; a reported result is not lost without a fault.

`off` leaves a rule out:
  nth      a result names its call by the id alone               empty    a result without a key counts although its call id is reused
  waiting  a result does not fit a call that waits               skipped  `skipped` after the offer promises that the call never ran
  shared   `skipped` ends an offered call of a round that runs   notrun   a veto front does not report the calls that it kept back
  done     a call that is done counts as run, though no guard let it   again    nobody writes verdicts for a front that listens later
  over     a round that is over is not answered                  whole    verdicts name the calls that changed only
  early    an outcome that overtakes its round is lost           fence    a cancel that overtakes a round is forgotten
  deadline an offer has no deadline                              partial  the stage ends the round at its first result
  observe  a round of a front that observes waits for guards     stop     an operator's cancel also reaches the round of a front that observes"""
from dataclasses import dataclass, replace as _r
from explore import explore
import sys

UNKNOWN, REFUSED, SKIPPED, NOT_RUN = 'unknown', 'refused', 'skipped', 'not-run'
KEPT_BACK = (REFUSED, SKIPPED)

@dataclass(frozen=True)
class S:
    log: tuple = (); pos: int = 0
    known: tuple = (); out: tuple = (); pend: tuple = (); judged: tuple = ()              # guest: out = (number, key, reported ordinals)
    slow: tuple = (); fast: tuple = (); back: tuple = ()
    ex: tuple = (); early: tuple = (); fenced: bool = False                               # executor: (number, truth, phases)
    activity: tuple = (); advice: tuple = (); queues: tuple = ((), ()); handlers: tuple = ((), ())
    history: tuple = (); waits: int = -1; asks: int = 0; ran: frozenset = frozenset(); allowed: frozenset = frozenset(); fin: bool = False; hidden: tuple = ()
    open: frozenset = frozenset(); shown: frozenset = frozenset(); late: bool = False; misfit: str = ''
    mode: str = 'hooks'; crashes: int = 0; dups: int = 0; retries: int = 0; opens: int = 0; gone: int = 0; cancels: int = 0; refusals: int = 0; lapses: int = 0; vanished: int = 0

def put(t, i, v): return t[:i] + (v,) + t[i + 1:]

def nth_of(ids, ordinal): return sum(1 for i in ids[:ordinal] if i == ids[ordinal])

# The stage.

def propose(s, key, truth):
    number = len(s.known) + 1
    return _r(s, known=s.known + ((key, number),), out=(number, key, ()), slow=s.slow + (('clear', number, truth),))

def report(s, ordinal, value, status, ids, off):
    reported = s.out[2] + (ordinal,)
    if 'partial' in off: reported = tuple(range(len(ids)))
    return _r(s, out=s.out[:2] + (reported,), fast=s.fast + (('outcome', s.out[0], ordinal, value, status),))

def give_up(s, ids, off):
    """The guest goes on without these results."""
    for ordinal in range(len(ids)):
        if ordinal not in s.out[2]: s = report(s, ordinal, UNKNOWN, 'unknown', ids, off)
    return s

def apply_result(s, key, cid, nth, value, status, ids, off):
    if not s.out: return s
    if key and key != s.out[1]: return s
    if not key and len(s.known) > 1 and 'empty' not in off: return s     # the id is reused, so nobody knows which round is meant
    for ordinal, other in enumerate(ids):
        if other == cid and (nth_of(ids, ordinal) == nth or 'nth' in off) and ordinal not in s.out[2]: return report(s, ordinal, value, status, ids, off)
    return s

def take(s, rec, ids, off):
    if rec[0] == 'done':
        refused = tuple(i for i, v in enumerate(rec[3]) if v in KEPT_BACK)
        s = _r(s, judged=s.judged + (rec[1:],), out=() if s.out and s.out[0] == rec[1] else s.out)
        if 'over' not in off: s = _r(s, activity=s.activity + (('advice', rec[1], refused),))
    elif rec[0] == 'cancel': return s if s.mode == 'observing' and 'stop' not in off else _r(s, fast=s.fast + (('cancel',),))
    else: s = _r(s, pend=s.pend + (rec,))
    while s.pend:
        s, waits = attempt(s, s.pend[0], ids, off)
        if waits: break
        s = _r(s, pend=s.pend[1:])
    return s

def attempt(s, rec, ids, off):
    known = dict(s.known)
    if rec[0] == 'round':
        _, key, truth = rec
        if key in known:
            number = known[key]
            if s.out and s.out[0] == number: return (_r(s, fast=s.fast + (('again', number),)) if 'again' not in off else s), False
            refused = [tuple(i for i, v in enumerate(v) if v in KEPT_BACK) for n, _, v in s.judged if n == number]
            return (_r(s, activity=s.activity + (('advice', number, refused[0]),)) if refused and 'over' not in off else s), False
        if s.out: return give_up(s, ids, off), True
        return propose(s, key, truth), False
    if rec[0] == 'result': return apply_result(s, *rec[1:], ids, off), False
    _, request, keys, results, hidden = rec
    count = lambda words: sum(1 for k in s.hidden if k[0] == words)
    if hidden is not None:
        refused = [k for k, n in s.known for m, _, v in s.judged if m == n and any(x in KEPT_BACK for x in v)]
        keys = tuple((w, n + sum(1 for k in refused if k[0] == w)) for w, n in keys) + hidden
    if s.out and s.out[1] in keys[:-1]: s = give_up(s, ids, off)
    if s.out and keys and s.out[1] == keys[-1]:
        for ordinal, value in enumerate(results):
            if s.out and ordinal not in s.out[2]: s = report(s, ordinal, value, 'ok' if value not in KEPT_BACK else 'error', ids, off)
        if results: s = give_up(s, ids, off)
    unknown = tuple(k for k in keys if k not in known)
    if s.out and s.out[1] in keys and not unknown: return s, True
    number = dict(s.known)
    refused = tuple(k for k, n in s.known for m, _, v in s.judged if m == n and any(x in KEPT_BACK for x in v))
    return _r(s, advice=s.advice + ((request, unknown, refused),)), False

# The executor.

def verdict_of(phase, off):
    if phase[0] == 'done': return 'done' if phase[2] or 'done' in off else 'refuse'
    return {'waiting': 'wait', 'offered': 'run'}[phase[0]]

def publish(s, number, phases, off, changed=None):
    verdicts = tuple(verdict_of(p, off) if changed is None or 'whole' not in off or i == changed else '' for i, p in enumerate(phases))
    return _r(s, activity=s.activity + (('verdicts', number, verdicts),))

def change(s, i, ordinal, phase, off):
    number, truth, phases = s.ex[i]
    if phase[0] == 'offered': s = _r(s, allowed=s.allowed | {(truth, ordinal)}, late=s.late or s.cancels > 0 and s.fenced)
    phases = put(phases, ordinal, phase)
    s = publish(_r(s, ex=put(s.ex, i, (number, truth, phases))), number, phases, off, ordinal)
    if all(p[0] == 'done' for p in phases): s = _r(s, back=s.back + (('done', number, truth, tuple(p[1] for p in phases)),))
    return s

def outcome(s, number, ordinal, value, status, off):
    for i, (n, truth, phases) in enumerate(s.ex):
        if n != number: continue
        phase = phases[ordinal]
        if phase[0] == 'done': return s
        if phase[0] == 'waiting':
            if 'waiting' in off: return s
            # It ran without a verdict, or the guest has its `no`.
            return change(s, i, ordinal, ('done', SKIPPED if status == 'skipped' else value, False), off)
        if status == 'skipped':
            if 'skipped' in off: return change(s, i, ordinal, ('done', SKIPPED, True), off)
            return change(s, i, ordinal, ('done', NOT_RUN, True), off) if 'shared' in off else s
        return change(s, i, ordinal, ('done', value, True), off)
    return s if 'early' in off else _r(s, early=s.early + ((number, ordinal, value, status),))

def executor(s, rec, ids, off):
    if rec[0] == 'clear':
        _, number, truth = rec
        fenced = s.fenced and 'fence' not in off
        waits = s.mode != 'observing' or 'observe' in off
        phases = tuple(('done', SKIPPED, False) if fenced else ('waiting',) if waits else ('offered',) for _ in ids)
        s = publish(_r(s, ex=s.ex + ((number, truth, phases),)), number, phases, off)
        if fenced: return _r(s, back=s.back + (('done', number, truth, tuple(p[1] for p in phases)),))
        for n, ordinal, value, status in s.early:
            if n == number: s = outcome(s, n, ordinal, value, status, off)
        return _r(s, early=tuple(e for e in s.early if e[0] != number))
    if rec[0] == 'again':
        for number, truth, phases in s.ex:
            if number == rec[1]: s = publish(s, number, phases, off)
        return s
    if rec[0] == 'cancel':
        s = _r(s, fenced=True)
        for i, (number, truth, phases) in enumerate(s.ex):
            for ordinal, p in enumerate(phases):
                if p[0] == 'waiting': s = change(s, i, ordinal, ('done', SKIPPED, False), off)
        return s
    return outcome(s, *rec[1:], off)

# Guest and fronts.

def newest(s, since, key):
    """The newest verdicts of the round since the front listens, or the advice on it."""
    number, got = dict(s.known).get(key), None
    for rec in s.activity[since:]:
        if rec[1] != number: continue
        if rec[0] == 'verdicts': got = rec[2]
        else: got = ('advice', rec[2])
    return got

def verdicts_in(got, ids):
    if got is None: return None
    if got[0] == 'advice': return tuple('refuse' if i in got[1] else 'done' for i in range(len(ids)))
    return got

def steps(mode, ids, N, off, C, D, R, O, T, K, V, L, X, anonymous):
    def ask(s, f, history, hidden, phase='advice'):
        keys = tuple(k for k, _, _ in history)
        rec = ('ask', s.asks, keys, history[-1][2] if history and not hidden else (), tuple(hidden) if mode == 'veto' else None)
        return _r(s, asks=s.asks + 1, queues=put(s.queues, f, s.queues[f] + (rec,)), handlers=put(s.handlers, f, (phase, s.asks, history, hidden)))
    def send(s, f, *recs): return _r(s, queues=put(s.queues, f, s.queues[f] + recs))
    def visible(s, key, truth, values): return _r(s, history=s.history + ((key, truth, values),), waits=-1)
    def front(s, f):
        h = s.handlers[f]
        if not h: return
        name, here = f'front {"PQ"[f]}', s.waits == f
        if h[0] in ('advice', 'catch'):
            phase, request, history, hidden = h
            for _, unknown, refused in [a for a in s.advice if a[0] == request]:
                if unknown and mode == 'veto': yield 'do', f'{name} is asked for a round that it never had: {unknown}', _r(s, handlers=put(s.handlers, f, ()), misfit='a front is asked for a round that it never had')
                elif unknown:
                    recs = ()
                    for key, truth, values in history:
                        if key in unknown: recs += (('round', key, truth),) + tuple(('result', key, ids[i], nth_of(ids, i), v, 'ok' if v not in KEPT_BACK else 'error') for i, v in enumerate(values))
                    yield 'do', f'{name} sends rounds that the log does not know: {unknown}', ask(send(s, f, *recs), f, history, hidden, phase)
                elif phase == 'catch': yield 'do', f'{name} is done', _r(s, handlers=put(s.handlers, f, ()), fin=True)
                else:
                    past = sum(1 for k in refused if k[0] == 'a') if mode == 'veto' else 0
                    key = truth = ('a', 1 + len(history) + past)
                    vkey = ('a', 1 + len(history))
                    n = send(s, f, ('round', key, truth))
                    if mode == 'observing':
                        n = _r(n, handlers=put(n.handlers, f, ()))
                        if here: n = visible(_r(n, ran=n.ran | {(truth, i) for i in range(len(ids))}), vkey, truth, tuple((truth, i) for i in range(len(ids))))
                        yield 'do', f'{name}: the model answers {truth}, its calls run', n
                    else: yield 'do', f'{name}: the model answers {truth}', _r(n, handlers=put(n.handlers, f, ('verdict', key, truth, len(n.activity), (None,) * len(ids), history, hidden)))
            return
        _, key, truth, since, got, history, hidden = h
        verdicts = verdicts_in(newest(s, since, key), ids)
        if not here:
            recs = tuple(('result', key, ids[i], nth_of(ids, i), NOT_RUN, 'skipped') for i, v in enumerate(got) if v is None)
            yield 'do', f'{name} has no client any more and reports that {truth} did not run', send(_r(s, handlers=put(s.handlers, f, ())), f, *recs)
            return
        if s.gone < T and mode == 'hooks' and None in got:
            waiting = [i for i, v in enumerate(got) if v is None]
            recs = tuple(('result', key, ids[i], nth_of(ids, i), NOT_RUN, 'skipped') for i in waiting)
            n = visible(send(_r(s, gone=s.gone + 1, handlers=put(s.handlers, f, ())), f, *recs), (key), truth, tuple(SKIPPED if v is None else v for v in got))
            yield 'fault', f'{name} gives up: the guest has a no for the calls {waiting} of {truth}', n
        if mode == 'hooks':
            for i, v in enumerate(got):
                if v is not None: continue
                verdict = verdicts[i] if verdicts else ''
                run = _r(s, ran=s.ran | {(truth, i)})
                rec = ('result', '' if anonymous else key, ids[i], nth_of(ids, i), (truth, i), 'ok')
                if verdict in ('run', 'done'): yield 'do', f'{name} reads {verdict}: the call {i} of {truth} runs', send(_r(run, handlers=put(s.handlers, f, put(h, 4, put(got, i, (truth, i))))), f, rec)
                elif verdict == 'refuse': yield 'do', f'{name} reads refuse for the call {i} of {truth}', _r(s, handlers=put(s.handlers, f, put(h, 4, put(got, i, REFUSED))))
                elif s.opens < O: yield 'fault', f'the hook fails open: the call {i} of {truth} runs', send(_r(run, opens=s.opens + 1, open=s.open | {(truth, i)}, handlers=put(s.handlers, f, put(h, 4, put(got, i, (truth, i))))), f, rec)
            if None not in got: yield 'do', f'{name}: {truth} is over for the guest', visible(_r(s, handlers=put(s.handlers, f, ())), key, truth, got)
        elif verdicts and 'wait' not in verdicts and '' not in verdicts:
            if all(v in ('run', 'done') for v in verdicts):
                values = tuple((truth, i) for i in range(len(ids)))
                yield 'do', f'{name} passes {truth} on, its calls run', visible(_r(s, handlers=put(s.handlers, f, ()), ran=s.ran | {(truth, i) for i in range(len(ids))}), ('a', 1 + len(history)), truth, values)
            else:
                recs = tuple(('result', key, ids[i], nth_of(ids, i), NOT_RUN, 'error') for i, v in enumerate(verdicts) if v != 'refuse') if 'notrun' not in off else ()
                yield 'do', f'{name} hides {truth} and asks the model again', ask(send(_r(s, hidden=s.hidden + (truth,)), f, *recs), f, history, hidden + (key,))
    def go(s):
        moves = list(moving(s))
        yield from moves
        quiet = not any(kind == 'do' for kind, _, _ in moves)
        stuck = any(h and h[0] == 'verdict' and s.waits == f for f, h in enumerate(s.handlers))
        if quiet and stuck: s = _r(s, misfit='a front waits for verdicts until a deadline')
        for i, (number, truth, phases) in enumerate(s.ex):
            for ordinal, p in enumerate(phases):
                if p[0] == 'offered' and 'deadline' not in off and (quiet or s.lapses < L):
                    yield 'do' if quiet else 'fault', f'the deadline of the call {ordinal} of {truth} passes', change(s if quiet else _r(s, lapses=s.lapses + 1), i, ordinal, ('done', UNKNOWN, True), off)
    def moving(s):
        for f in (0, 1):
            name = f'front {"PQ"[f]}'
            yield from front(s, f)
            if s.queues[f]:
                rec, rest = s.queues[f][0], s.queues[f][1:]
                yield 'do', f'{name} writes {rec}', _r(s, log=s.log + (rec,), queues=put(s.queues, f, rest))
                if s.dups < D: yield 'fault', f'{name} writes {rec}, which will arrive once more', _r(s, log=s.log + (rec,), queues=put(s.queues, f, rest + (rec,)), dups=s.dups + 1)
            if s.crashes < C and (s.queues[f] or s.handlers[f]):
                yield 'fault', f'{name} CRASHES', _r(s, queues=put(s.queues, f, ()), handlers=put(s.handlers, f, ()), waits=-1 if s.waits == f else s.waits, crashes=s.crashes + 1)
        over = len(s.history) >= N
        if s.waits < 0 and not s.fin and not (over and any(h and h[0] == 'catch' for h in s.handlers)):
            for f in (0, 1):
                if not s.handlers[f] and (s.asks or not f): yield 'do', f'the guest asks its model through {"PQ"[f]} with {len(s.history)} rounds', _r(ask(s, f, s.history, (), 'catch' if over else 'advice'), waits=-1 if over else f)
        if s.vanished < X and not s.fin: yield 'fault', 'the guest vanishes', _r(s, waits=-1, fin=True, vanished=1)
        if s.waits >= 0 and s.retries < R and not s.handlers[1 - s.waits]:
            yield 'fault', f'the guest gives up and asks again through {"PQ"[1 - s.waits]}', _r(ask(s, 1 - s.waits, s.history, ()), waits=1 - s.waits, retries=s.retries + 1)
        for i, (number, truth, phases) in enumerate(s.ex):
            for ordinal, p in enumerate(phases):
                if p[0] != 'waiting': continue
                yield 'do', f'the guards let the call {ordinal} of {truth} run', change(s, i, ordinal, ('offered',), off)
                if s.refusals < V: yield 'env', f'a guard refuses the call {ordinal} of {truth}', change(_r(s, refusals=s.refusals + 1), i, ordinal, ('done', REFUSED, False), off)
        if s.cancels < K: yield 'fault', 'an operator cancels', _r(s, log=s.log + (('cancel',),), cancels=s.cancels + 1)
        if s.pos < len(s.log): yield 'do', f'guest reads {s.log[s.pos]}', take(_r(s, pos=s.pos + 1), s.log[s.pos], ids, off)
        if s.slow: yield 'do', f'executor reads {s.slow[0]}', executor(_r(s, slow=s.slow[1:]), s.slow[0], ids, off)
        if s.fast: yield 'do', f'executor reads {s.fast[0]}', executor(_r(s, fast=s.fast[1:]), s.fast[0], ids, off)
        if s.back: yield 'do', f'{s.back[0]} comes back', _r(s, log=s.log + (s.back[0],), back=s.back[1:])
    return go

def check(title, mode='hooks', ids='cd', N=1, off=(), C=0, D=0, R=0, O=0, T=0, K=0, V=0, L=0, X=0, anonymous=False, cap=1_500_000):
    off = frozenset(off)
    def broken(s):
        if s.misfit: return s.misfit
        if s.late: return 'a call was offered after the cancel'
        if mode != 'observing':
            for call in s.ran - s.open:
                if call not in s.allowed: return f'the call {call} ran although no guard let it'
        for number, truth, phases in s.ex:
            for i, p in enumerate(phases):
                if p[0] != 'done': continue
                if p[1] == SKIPPED and (truth, i) in s.ran - s.open: return f'the call {i} of {truth} counts as never run, but it ran'
                if p[1] == REFUSED and mode == 'observing': return f'a guard refused the call {i} of {truth}, which a front only observes'
                if p[1] == NOT_RUN and (truth, i) in s.ran - s.open: return f'the call {i} of {truth} has the result of a front that did not run it, but it ran'
                if p[1] not in (UNKNOWN, REFUSED, SKIPPED, NOT_RUN) and p[1] != (truth, i): return f'the result of {p[1]} reached the call {i} of {truth}'
        if len({n for n, *_ in s.judged}) < len(s.judged): return 'a round was given two results'
    def settled(s):
        if any(s.handlers) or s.pend or s.out: return f'stuck: a front waits for ever ({[h[:3] for h in s.handlers if h]}), or records wait ({s.pend})'
        judged = {t: v for _, t, v in s.judged}
        for _, truth, values in s.history:
            if truth not in judged: return f'{truth} was never judged'
            for i, v in enumerate(judged[truth]):
                if v == UNKNOWN and not (C or R or L or T or X or anonymous and N > 1): return f'the call {i} of {truth} is unknown although its result was reported'
        for truth in s.hidden:
            for i, v in enumerate(judged.get(truth, ())):
                if v == UNKNOWN and not (C or R or L or X): return f'the call {i} of the hidden round {truth} is unknown although its front kept it back'
    return explore(title, S(mode=mode), steps(mode, ids, N, off, C, D, R, O, T, K, V, L, X, anonymous), broken, settled, cap=cap)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('left out: nth (the call id alone)', off=['nth'], ids='cc')
        check('left out: notrun, veto', off=['notrun'], mode='veto', V=1)
        check('left out: whole', off=['whole'])
        check('left out: early', off=['early'], mode='observing')
        check('left out: fence', off=['fence'], K=1)
        check('left out: partial', off=['partial'])
        check('left out: deadline', off=['deadline'], X=1)
        check('left out: waiting (a hook fails open)', off=['waiting'], O=1)
        check('left out: skipped (after the offer)', off=['skipped'], R=1)
        check('left out: shared (another front runs the round)', off=['shared'], R=1)
        check('left out: empty (a reused id without a key)', off=['empty'], ids='c', anonymous=True, N=2, D=1)
        check('left out: done (a call that no guard let)', off=['done'], ids='c', R=1)
        check('left out: again', off=['again'], ids='c', R=1)
        check('left out: over', off=['over'], ids='c', R=1)
        check('left out: observe (a guard refuses)', off=['observe'], mode='observing', V=1)
        check('left out: stop (a cancel)', off=['stop'], mode='observing', K=1)
    if part in ('all', 'fixed'):
        check('hooks, no fault')
        check('hooks, one id, no fault', ids='cc')
        check('observing, no fault', mode='observing')
        check('observing, 1 refusal, 1 cancel', mode='observing', V=1, K=1)
        check('observing, 1 crash', mode='observing', C=1)
        check('observing, 1 deadline', mode='observing', L=1)
        check('veto, 1 refusal', mode='veto', V=1)
        check('hooks, 1 refusal', V=1)
        check('hooks, 1 cancel', K=1)
        check('hooks, vanishes', X=1)
        check('hooks, 1 crash', C=1)
        check('hooks, 1 deadline', L=1)
        check('hooks, gives up', T=1)
        check('hooks, 1 fail-open', O=1)
        check('hooks, 1 call, 1 retry', ids='c', R=1)
        check('hooks, 1 call, 1 retry, 1 refusal', ids='c', R=1, V=1)
        check('hooks, 1 call, 1 duplicate, 2 rounds', ids='c', D=1, N=2)
        check('hooks, 1 call, 1 duplicate, 2 rounds, no keys', ids='c', D=1, N=2, anonymous=True)
        check('veto, 1 call, 1 retry, 1 refusal', mode='veto', ids='c', R=1, V=1)
        check('veto, 2 refusals', mode='veto', V=2)
        check('hooks, 1 retry', R=1)
