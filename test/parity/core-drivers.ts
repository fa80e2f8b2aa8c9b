// The core as a guest's program uses it: live, all at once in late requests, and in any mixture.

import type { GuardSession, GuestFormat } from '../../client/guard/guest-conversation.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Transcript, TranscriptResponse } from '../../shared/transcript/transcript.ts'
import { answerOf, requestOf, type Turn } from '../support/guest-requests.ts'
import { type Driver, judged } from './driver.ts'
import { hiddenIn, hiddenInHistory, shownIn } from './formats.ts'

/** Asks before and after each response. */
export function liveDriver(format: GuestFormat): Driver {
  return {
    name: `the core live, ${format}`,
    shows: (scenario) => shownIn(format, scenario),
    async drive([guard], transcript, thread) {
      const conversation = guard.conversation(thread)
      for (const { before, said, turns } of stepsOf(transcript)) {
        const request = requestOf(format, before, transcript.tools)
        await judged(conversation, request)
        if (said !== undefined) await conversation.afterModel(answerOf(request, said))
        else await judged(conversation, requestOf(format, turns, transcript.tools))
      }
    },
  }
}

/** One late request for each turn. */
export function atOnceDriver(format: GuestFormat): Driver {
  return {
    name: `the core all at once, ${format}`,
    shows: (scenario) => shownIn(format, scenario),
    leavesOut: (transcript) => late(format, transcript),
    async drive([guard], transcript, thread) {
      const { turns, tools } = transcript
      for (const at of turns.keys())
        await judged(guard.conversation(thread), requestOf(format, turns.slice(0, at + 1), tools))
    },
  }
}

/** Leaves out, repeats and doubles requests, through two fronts. The same in every run. */
export function mixtureDriver(format: GuestFormat): Driver {
  return {
    name: `a mixture with repeats through two fronts, ${format}`,
    shows: (scenario) => shownIn(format, scenario),
    leavesOut: (transcript) => late(format, transcript),
    async drive(guards, transcript, thread) {
      const random = randomOf(thread)
      let isOpen = false // the log has the newest round without its results
      for (const { before, said, turns, endsTurn } of stepsOf(transcript)) {
        const request = requestOf(format, before, transcript.tools)
        for (let times = Math.max(random(3), Number(isOpen)); times > 0; times -= 1)
          await judged(pick(guards, random).conversation(thread), request)
        isOpen = false
        if (said === undefined || endsTurn || random(3) === 0)
          await both(guards, (guard) =>
            judged(guard.conversation(thread), requestOf(format, turns, transcript.tools)),
          )
        const answers = said === undefined ? 0 : random(3)
        // A front asks before each response. Otherwise rounds would be judged out of order.
        if (answers > 0) await judged(pick(guards, random).conversation(thread), request)
        for (let times = answers; times > 0 && said !== undefined; times -= 1)
          await pick(guards, random).conversation(thread).afterModel(answerOf(request, said))
        isOpen = answers > 0
      }
    },
  }
}

type Step = {
  /** The turns before the response. */
  before: Turn[]
  /** Undefined: the end of the transcript. */
  said: TranscriptResponse | undefined
  /** The turns with the response. */
  turns: Turn[]
  /** It is the last response of its turn. */
  endsTurn: boolean
}

export function* stepsOf({ turns }: Transcript): Generator<Step> {
  for (const [at, { user, responses }] of turns.entries())
    for (const [n, said] of responses.entries()) {
      const upTo = (end: number): Turn[] => [
        ...turns.slice(0, at),
        { user, responses: responses.slice(0, end) },
      ]
      yield { before: upTo(n), said, turns: upTo(n + 1), endsTurn: n === responses.length - 1 }
    }
  yield { before: turns, said: undefined, turns, endsTurn: true }
}

function late(format: GuestFormat, transcript: Transcript): string | undefined {
  return hiddenIn(format, transcript) ?? hiddenInHistory(transcript) ?? tooLong(transcript)
}

function tooLong({ turns }: Transcript): string | undefined {
  return turns.some(({ responses }) => responses.length > limits.guestKeysMax)
    ? 'a front sends the last rounds of a turn only'
    : undefined
}

async function both(
  guards: [GuardSession, GuardSession],
  run: (guard: GuardSession) => Promise<void>,
): Promise<void> {
  await Promise.all(guards.map(run))
}

function pick(
  guards: [GuardSession, GuardSession],
  random: (below: number) => number,
): GuardSession {
  return guards[random(2)] as GuardSession
}

/** A linear congruential generator, seeded by a text. */
function randomOf(seed: string): (below: number) => number {
  let state = [...seed].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7)
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
