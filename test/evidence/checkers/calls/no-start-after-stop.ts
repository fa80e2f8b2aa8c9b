// An operator's stop counts within a second on an idle machine. After the bound and before the
// release, no tool that it stops starts, and no model request of a stopped agent begins. A process
// that is paused or killed at that time, and a broker that is away, may be later.

import {
  addressOf,
  boundOn,
  type Checker,
  callKey,
  type Disturbance,
  type Evidence,
  type Logged,
  recordsOf,
  turnKey,
} from '../../evidence.ts'
import { lineOf } from '../trees/trees.ts'
import { matches } from './waits.ts'

const idleBoundMs = 1_000

/** `ageMs`: the time of the start after the record of the stop. */
type StoppedStart = { what: string; process: string; at: number; ageMs: number; stop: Logged }

export const noStartAfterStop: Checker<'disturbances'> = {
  name: 'no-start-after-stop',
  rule: "An operator's stop counts within a second.",
  needs: ['disturbances'],
  check(evidence) {
    const boundMs = boundOn(evidence, idleBoundMs)
    return startsInStops(evidence).flatMap(({ what, process, at, ageMs, stop }) =>
      ageMs <= boundMs || isDisturbed(evidence.disturbances, process, { from: stop.time, to: at })
        ? []
        : [
            {
              problem: `${what} started ${ageMs} ms after ${stop.key}; at most ${boundMs} ms are allowed`,
              at: addressOf(stop),
            },
          ],
    )
  },
}

/** The starts between a stop that concerns them and its release. */
export function startsInStops(evidence: Evidence): StoppedStart[] {
  const agents = new Map(
    recordsOf(evidence, 'round-cleared').flatMap(({ message }) =>
      message.calls.map(({ ordinal }) => [callKey(message, ordinal), message.agent]),
    ),
  )
  const starts = [
    ...evidence.starts.map(({ call, tool, process, at }) => ({
      what: `${call} (${tool})`,
      process,
      at,
      tool,
      agent: agents.get(call),
      conversation: (JSON.parse(call) as [string])[0],
    })),
    ...modelRequests(evidence),
    ...guestRunsOf(evidence),
  ]
  return stopSpans(evidence).flatMap(({ stop, until }) =>
    starts.flatMap((start) =>
      start.at > stop.time && start.at < until && isOf(stop, start)
        ? [{ ...start, ageMs: start.at - stop.time, stop }]
        : [],
    ),
  )
}

/** The attempts that reached the provider, at their attempt-started. */
function modelRequests(evidence: Evidence) {
  const answered = new Set(
    recordsOf(evidence, 'attempt-finished').map(({ message }) => message.attempt),
  )
  const agents = new Map(
    recordsOf(evidence, 'model-request').map(({ message }) => [turnKey(message), message.agent]),
  )
  return recordsOf(evidence, 'attempt-started')
    .filter(({ message }) => answered.has(message.attempt))
    .map(({ message, time }) => ({
      what: `attempt ${message.attempt}`,
      process: 'llm-gateway',
      at: time,
      tool: undefined,
      agent: agents.get(turnKey(message)),
      conversation: message.conversation,
    }))
}

/** Calls that a guest ran, at once after the verdict on them. */
function guestRunsOf({ guestRuns }: Evidence) {
  return guestRuns.flatMap(({ conversation, root, at, call }) =>
    root === undefined
      ? []
      : [
          {
            what: `call ${'mark' in call ? call.mark : call.callId} of the guest ${conversation}`,
            process: 'front',
            at,
            tool: undefined,
            agent: undefined,
            conversation: root,
          },
        ],
  )
}

function stopSpans({ records }: Evidence): { stop: Logged; until: number }[] {
  const written = records.filter(
    ({ topic, key }) => topic === 'policies' && key.startsWith('stop:'),
  )
  return written.flatMap((stop, i) => {
    if (stop.message === undefined) return []
    const end = written.slice(i + 1).find(({ key }) => key === stop.key)
    return [{ stop, until: end?.time ?? Number.POSITIVE_INFINITY }]
  })
}

type Started = { tool: string | undefined; agent: string | undefined; conversation: string }

/** A stop of a conversation is one of all conversations below. */
function isOf({ message }: Logged, { tool, agent, conversation }: Started): boolean {
  if (message?.type !== 'operator-stop') return false
  const { scope, name } = message
  if (scope === 'all') return true
  if (scope === 'tool') return tool !== undefined && matches(name, tool)
  if (scope === 'conversation') return lineOf(conversation).includes(name)
  return scope === 'agent' && agent === name
}

/** Whether a process was killed or paused at that time, or the broker was away. */
export function isDisturbed(
  disturbances: Disturbance[],
  process: string,
  { from, to }: { from: number; to: number },
): boolean {
  return disturbances.some(
    (one) =>
      (one.kind === 'broker' ||
        one.process === process ||
        (process === 'llm-gateway' && /^(llm-gateway|all)/.test(one.process))) &&
      one.from <= to &&
      one.to >= from,
  )
}
