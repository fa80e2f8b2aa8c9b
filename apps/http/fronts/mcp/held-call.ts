// One `tools/call` of a host: judged, held for a person, forwarded, reported.
// A call is forwarded only after the verdict `allow` on itself, and once (R6).
// An answer of the host's person decides the arguments that the person saw. A repeat
// with others does not run. Judge, person and server get the text of the host.
// Each placed call gets exactly one result, also if its host leaves.
// A call that the host's person declines does not run, also if somebody else allows it.
// A question shows the arguments as a whole. A longer call waits for Weir's commands.

import type { CallToolResult, Progress } from '@modelcontextprotocol/client'
import type { Logger } from 'pino'
import type { CallVerdict } from '../../../../client/guard/guest-conversation.ts'
import type { Approvals } from '../../../../services/approval/performer/approvals.ts'
import type { McpTool } from '../../../../shared/agents/agents.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { withExactNumbers } from '../../../../shared/lib/json/raw-numbers.ts'
import { sameJson } from '../../../../shared/lib/json/same-json.ts'
import { pause } from '../../../../shared/lib/pause.ts'
import {
  cannotJudge,
  declinedInHost,
  hostIsGone,
  otherArguments,
  questionIsOver,
  undecided,
  waitedAs,
} from '../../../../shared/model-texts/guests.ts'
import { printable, printableJson } from '../../../terminal/text/printable.ts'
import { orAborted } from '../or-aborted.ts'
import { questionOn as askPerson } from '../person-texts.ts'
import { forwardCall, textResult, withText } from './forwarded-call.ts'
import type { GatewayRounds, PlacedCall } from './gateway-rounds.ts'
import { type HeldTasks, heldTasks, type Task } from './held-tasks.ts'
import type { Upstreams } from './upstreams.ts'

/** How often a host that wants progress gets it while its call waits for a person. */
const gatewayPingMs = 10_000

/** `id`: the host's name of the call, if it has one. */
export type HostCall = {
  id: string | undefined
  name: string
  /** The text of the arguments. */
  input: string
  /** The place of the call in a trace of the host. */
  traceparent: string | undefined
  /** Aborts when the host cancels or leaves. */
  signal: AbortSignal
  /** Whether the host can ask its person. */
  canAsk: boolean
  /** Whether the host can take a task in place of a result. */
  canPoll: boolean
  onProgress(progress: Progress): void
}

type Result = { kind: 'result'; result: CallToolResult }

/** `question`: for the person of the host. `call` names it in the host's answer. */
export type CallAnswer =
  | Result
  | { kind: 'task'; task: Task }
  | { kind: 'question'; call: string; question: string }

export type PersonAnswer = 'allow' | 'deny' | undefined

export type HeldCalls = {
  /** Those of calls that wait for a person. */
  tasks: Pick<HeldTasks, 'get' | 'cancel'>
  call(call: HostCall): Promise<CallAnswer>
  /** The same call with the answer of the host's person. Undefined: no answer that can be read. */
  resume(call: HostCall, named: string, answer: PersonAnswer): Promise<CallAnswer>
}

export type HeldCallsOptions = {
  rounds: GatewayRounds
  upstreams: Pick<Upstreams, 'toolsFor' | 'resources'>
  approvals: Pick<Approvals, 'decide'>
  /** The person of the host, for the record. */
  by: string
  clock: Clock
  log: Logger
}

type Approval = NonNullable<CallVerdict['approval']>
/** A call that its host must send again. */
type Asked = { placed: PlacedCall; run: McpTool | undefined; approval: Approval }
type Question = Extract<CallAnswer, { kind: 'question' }>

export function heldCalls({
  rounds,
  upstreams,
  approvals,
  by,
  clock,
  log,
}: HeldCallsOptions): HeldCalls {
  const asked = new Map<string, Asked & { question: Question }>()
  const tasks = heldTasks(clock)

  async function call(call: HostCall): Promise<CallAnswer> {
    const { id, name, input, signal } = call
    let placed: PlacedCall | string
    let run: McpTool | undefined
    try {
      const { declared, runs } = await upstreams.toolsFor(name)
      run = runs.get(name)
      placed = await rounds.place({ id, name, input }, declared, signal)
    } catch (error) {
      log.warn({ err: error, tool: name }, 'a call was denied: it has no round')
      return result(signal.aborted ? hostIsGone : cannotJudge)
    }
    if (typeof placed === 'string') return result(placed)
    const { verdicts, index } = placed
    const first = await known(placed, call, () => verdicts.first(index))
    if (typeof first === 'string') return result(first)
    if (first.verdict !== 'pending' || first.approval === undefined)
      return settled(placed, run, call, first)
    const own = { placed, run, approval: first.approval }
    const question = call.canAsk ? questionOn(own) : undefined
    if (question === undefined) return call.canPoll ? taskOf(own, call) : waited(own, call)
    const open = { ...own, question }
    asked.set(placed.id, open)
    void endIfLeft(open)
    return question
  }

  /** Its host needs no progress, because it asks for the task. */
  function taskOf(own: Asked, call: HostCall): CallAnswer {
    const task = tasks.begin(waits(own), async (signal) => {
      const { result } = await waited(own, { ...call, signal, onProgress() {} })
      return result
    })
    return { kind: 'task', task }
  }

  /** Undefined: the arguments are too long for a host. */
  function questionOn({ placed, approval }: Asked): Question | undefined {
    const { name, input } = placed
    const shown = printableJson(withExactNumbers(input))
    if (shown.length > questionCharactersMax) return undefined
    const question = askPerson(approval.id, `${printable(name)} ${shown}`)
    return { kind: 'question', call: placed.id, question }
  }

  /** Ends the wait of a host that does not send the call again. */
  async function endIfLeft(own: Asked): Promise<void> {
    const { placed } = own
    const last = await placed.verdicts.last(placed.index).catch(() => undefined)
    const isAllowed = last?.verdict === 'allow' // elsewhere: the host may still come
    if (isAllowed) await pause(clock, limits.guestHoldMs)
    if (asked.get(placed.id) !== own) return
    asked.delete(placed.id)
    await finished(placed, { status: isAllowed ? 'error' : 'skipped', text: hostIsGone })
  }

  /** `answer`: that of the host's person. */
  async function waited(own: Asked, call: HostCall, answer?: PersonAnswer): Promise<Result> {
    const { placed, run, approval } = own
    const message = waits(own)
    let progress = 0
    const ping = () => {
      progress += 1
      call.onProgress({ progress, message })
    }
    ping()
    const timer = setInterval(ping, gatewayPingMs)
    const last = await known(placed, call, () => placed.verdicts.last(placed.index)).finally(() =>
      clearInterval(timer),
    )
    if (typeof last === 'string') return result(last)
    const isDeclined = answer === 'deny' && last.verdict === 'allow'
    const verdict = isDeclined ? { ...last, verdict: 'deny' as const, text: declinedInHost } : last
    return settled(placed, run, call, verdict, approval)
  }

  /** The verdict, or the text of a call that ended without one. */
  async function known(
    placed: PlacedCall,
    { signal, name }: HostCall,
    verdict: () => Promise<CallVerdict | undefined>,
  ): Promise<CallVerdict | string> {
    let text = undecided
    try {
      const found = await orAborted(verdict(), signal)
      if (found !== undefined) return found
    } catch (error) {
      text = signal.aborted ? hostIsGone : cannotJudge
      if (!signal.aborted) log.warn({ err: error, tool: name }, 'a call could not be judged')
    }
    const advice = await finished(placed, { status: 'skipped', text })
    return joined(text, advice)
  }

  async function settled(
    placed: PlacedCall,
    run: McpTool | undefined,
    call: HostCall,
    { verdict, text }: CallVerdict,
    approval?: Approval,
  ): Promise<Result> {
    if (verdict !== 'allow' || run === undefined || placed.denial !== '') {
      const named = approval === undefined ? '' : waitedAs(approval.id)
      const whole = joined(placed.denial, text, named)
      const advice = await finished(placed, { status: 'error', text: whole })
      return result(joined(whole, advice))
    }
    const { signal, traceparent, onProgress } = call
    const {
      answer,
      status,
      text: kept,
    } = await forwardCall(run, placed.input, {
      clock,
      signal,
      traceparent,
      onProgress,
      log,
    })
    upstreams.resources.noteLinks(run.server, answer)
    const advice = await finished(placed, { status, text: kept })
    return { kind: 'result', result: withText(answer, advice) }
  }

  /** A result that cannot be written is no reason to withhold it from the host. */
  async function finished(
    placed: PlacedCall,
    report: Parameters<PlacedCall['finish']>[0],
  ): Promise<string> {
    try {
      return await placed.finish(report)
    } catch (error) {
      log.warn({ err: error, tool: placed.name }, 'a result was not reported')
      return ''
    }
  }

  return {
    tasks,
    call,
    async resume(call, named, answer) {
      const own = asked.get(named)
      if (own === undefined) return result(questionIsOver)
      const { placed, run, approval } = own
      if (answer === undefined) return own.question
      asked.delete(named)
      if (placed.name !== call.name || !sameJson(placed.input, call.input)) {
        await finished(placed, { status: 'skipped', text: otherArguments })
        return result(otherArguments)
      }
      const reason = answer === 'deny' ? { reason: 'declined in the host' } : {}
      try {
        await approvals.decide({ ...approval, answer, by, ...reason })
      } catch (error) {
        log.warn({ err: error, id: approval.id }, 'the answer of a person was not written')
        if (answer === 'deny') {
          await finished(placed, { status: 'skipped', text: undecided })
          return result(undecided)
        }
      }
      return waited({ placed, run, approval }, call, answer)
    },
  }
}

const questionCharactersMax = 2_000

const waits = ({ approval }: Asked): string =>
  `waits for a person: weir allow ${approval.id} (weir approvals shows the call)`

function result(text: string): Result {
  return { kind: 'result', result: textResult(text) }
}

function joined(...texts: string[]): string {
  return texts.filter(Boolean).join('\n\n')
}
