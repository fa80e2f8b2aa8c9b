// The reasons that clients read in turn-finished, and the texts of a turn's end for the model.

import { shortened } from '../../lib/text-cut.ts'
import { lastResponse, limitIn, missingRound } from '../../model-texts/requests.ts'
import { limits } from '../limits.ts'
import { type StageName, stages } from '../topology.ts'

/**
 * For the model, at the top of the last request, after the cap on rounds or calls is reached (I3).
 */
export function capNudge(cap: 'rounds' | 'calls', max: number): string {
  return lastResponse(cap === 'rounds' ? count(max, 'model round') : count(max, 'tool call'))
}

/**
 * The reason for a last response, for people: the limit that the nudge names, anywhere in the text.
 * Undefined: no cap is the reason.
 */
export function capReasonIn(nudge: string): string | undefined {
  const limit = limitIn(nudge)
  return limit && `the limit of ${limit} is reached`
}

/**
 * The note of a round that was lost when this stage failed. A stage that this Weir does not know
 * may have run calls (R8).
 */
export function brokenIn(stage: string): string {
  const mayHaveActed = !Object.hasOwn(stages, stage) || stages[stage as StageName].mayHaveActed
  return mayHaveActed ? missingRound.brokenInTheTools : missingRound.brokenInTheModel
}

/** Reasons in turn-finished, for people. */
export const reasons = {
  answered: 'the model answered',
  answeredUnseen: 'the agent finished its turn (the hooks do not see the text)',
  answeredAtCap: (cap: string) =>
    `the model answered in its last response; the limit on ${cap} was reached`,
  cutBy: {
    length: "its reply was cut at the agent's or the model's limit on output tokens",
    refusal: 'its reply was ended by a filter of the model or the provider',
  },
  refused: 'the model refuses to answer and gives no text',
  cancelled: 'the client cancelled it',
  output: (problem: string) => `the reply is not the required output: ${problem}`,
  heldCall: 'its reply holds a tool call that is written as text, which did not run',
  capped: (reached: string, isOnlyCall: boolean) =>
    `${reached}, and the last text-only response ${isOnlyCall ? 'was only a tool call, written as text' : 'brought no text'}`,
  rounds: (max: number) => `the limit of ${count(max, 'model round')} is reached`,
  calls: (max: number) => `the limit of ${count(max, 'tool call')} is reached`,
  tokens: (max: number, used: number) => `the limit of ${max} tokens is reached: ${used} were used`,
  wall: (maxMs: number) => `the time limit of ${maxMs} ms is reached`,
  internal: (stage: string, reason: string) =>
    shortened(`internal failure in ${stage}: ${reason}`, limits.reasonBytesMax),
  settingSize: (setting: string, bytes: number, max: number) =>
    `${setting} has ${bytes} bytes; at most ${max} are taken`,
  declarationsSize: (bytes: number) =>
    `the declarations of the agent's tools have ${bytes} bytes; at most ${limits.agentDeclarationsBytesMax} are taken`,
  textSize: (bytes: number) =>
    `the message has ${bytes} bytes; at most ${limits.userMessageBytesMax} are taken. Send a shorter one`,
  unusableOutput: (reason: string) =>
    shortened(`settings.output is an unusable schema: ${reason}`, limits.reasonBytesMax),
  blank: (setting: string) => `${setting} is blank; it must hold text`,
  tooLow: (setting: string, value: number, min: number) =>
    `${setting} is ${value}; it must be at least ${min}`,
  tooHigh: (setting: string, value: number, max: number) =>
    `${setting} is ${value}; it must be at most ${max}`,
  guestId:
    'the id begins with guest:, which is kept for agents that own their model and tools; choose another id',
  queueFull: `${limits.queueMessagesMax} messages are waiting already, and no more can. Send it again after the next reply`,
  queueHeavy: `the waiting messages would hold more than ${limits.queueBytesMax} bytes. Send it again after the next reply`,
}

function count(n: number, unit: string): string {
  return `${n} ${unit}${n === 1 ? '' : 's'}`
}
