// Incidents: the model goes on with the same fault, and Weir ends the loop.

import type { ScriptedAnswer, SeenRequest } from '../model-server.ts'
import { command, nameOf, type Program } from '../programs/program.ts'
import { messagesOf } from '../transcript.ts'
import {
  type Case,
  type Front,
  forbidsCalls,
  isToldTwice,
  type Observed,
  observe,
  type Result,
  type ScriptIn,
} from './case.ts'

/** A loop of the model ends by itself after this many rounds. */
const rounds = 25

export const finalText = 'I could not do the task.'

export type Incident = {
  title: string
  loop(program: Program, number: number): ScriptedAnswer
  /** Its arguments are no JSON. */
  isUnreadable?: boolean
  /** The requests until the loop has ended. */
  requestsMax: number
}

export const bareCall: Incident = {
  title: 'I1, a call without its argument',
  loop: ({ shell }) => ({ calls: [{ name: shell.name, input: '{}' }] }),
  requestsMax: 5,
}

// The rule identical-success counts to five.
export const sameSuccess: Incident = {
  title: 'I3, a call that succeeds again and again',
  loop: (program) => ({ calls: [command(program, 'echo same')] }),
  requestsMax: 7,
}

const failingCall: Incident = {
  title: 'I4, a failing call between thoughts',
  loop: (program) => ({ thinking: 'I try again.', calls: [command(program, 'cat missing')] }),
  requestsMax: 7,
}

export const cutArguments: Incident = {
  title: 'arguments that end in the middle',
  loop: ({ shell }) => ({
    calls: [{ name: shell.name, input: `{"${shell.argument}":"touch ran-` }],
    isLengthLimited: true,
  }),
  isUnreadable: true,
  requestsMax: 5,
}

export const otherArguments: Incident = {
  title: 'a call with other wrong arguments each time',
  loop: ({ shell }, number) => ({
    calls: [{ name: shell.name, input: JSON.stringify({ [`wrong${number}`]: number }) }],
  }),
  requestsMax: 5,
}

export const incidents: readonly Incident[] = [
  bareCall,
  sameSuccess,
  failingCall,
  {
    title: 'I4, thoughts and calls in turns',
    loop: (program, number) =>
      number % 2 === 1
        ? { thinking: 'I think about it.' }
        : { calls: [command(program, `echo step ${number}`)] },
    // The cap on empty answers is ten, and each second answer is one. A host that shows no empty answer
    // hides the first: its conversation has no name before the first call.
    requestsMax: 25,
  },
  otherArguments,
  {
    title: 'a tool that does not exist',
    loop: () => ({ calls: [{ name: 'no_such_tool', input: '{"path":"a.txt"}' }] }),
    requestsMax: 5,
  },
  cutArguments,
  {
    title: 'arguments that are no JSON',
    loop: ({ shell }) => ({
      calls: [{ name: shell.name, input: `{"${shell.argument}": echo` }],
    }),
    isUnreadable: true,
    requestsMax: 5,
  },
  {
    title: 'a call with its arguments twice',
    loop: (program) => ({ calls: [command(program, 'echo same')], isDoubled: true }),
    requestsMax: 7,
  },
]

/** The last answer of a model that is done. A host may want a call for it. */
export function lastAnswer(program: Program, text: string, mayCall: boolean): ScriptedAnswer {
  return program.finish !== undefined && mayCall
    ? { text, calls: [program.finish(text)] }
    : { text }
}

/** `obeys`: whether the model stops because of a text. */
export function loopScript(
  program: Program,
  incident: Incident,
  obeys: (request: SeenRequest) => boolean,
): ScriptIn {
  let hasEnded = false
  return () => (request, number) => {
    const isForbidden = forbidsCalls(request)
    hasEnded ||= number > rounds || isForbidden || obeys(request)
    return hasEnded ? lastAnswer(program, finalText, !isForbidden) : incident.loop(program, number)
  }
}

/** `obeys`: with hooks, where no provider enforces it, the model obeys the second text of Weir. */
export function incidentCase(
  program: Program,
  front: Front,
  incident: Incident,
  obeys = true,
): Case {
  return {
    program: nameOf(program),
    worksWith: program,
    front,
    title: obeys ? incident.title : `${incident.title}, and the model obeys no text`,
    run: async () => {
      const stops = obeys && front === 'hooks' ? isToldTwice : () => false
      const script = () => loopScript(program, incident, stops)
      const observed = await observe(program, front, { script: script() })
      const result = judged(program, front, incident, observed, obeys)
      if (result.fault === undefined || front === 'none') return result
      const alone = await observe(program, 'none', { script: script() })
      return isSameEnd(observed, alone)
        ? { found: `${observed.requests.length} requests, ended by the host as without Weir` }
        : result
    },
  }
}

/** A limit of the host comes before the end of the script. */
function isSameEnd(observed: Observed, alone: Observed): boolean {
  const { length } = alone.requests
  return length <= rounds && observed.requests.length === length && observed.reply === alone.reply
}

function judged(
  program: Program,
  front: Front,
  incident: Incident,
  { requests, reply, ended, warnings }: Observed,
  obeys: boolean,
): Result {
  const { requestsMax } = incident.isUnreadable && program.repairsArguments ? sameSuccess : incident
  const { count, note } = counted(requests)
  const asksAgain = program.finish === undefined ? 0 : 1
  const end = endOf(reply, requests.length)
  const found = `${count} requests, ${endTexts[end]}${note}`
  if (count === 0) return { found, fault: `no request: ${ended.errors.slice(-300)}` }
  if (front === 'none')
    return { found, fault: count <= rounds ? 'the host ended the loop itself' : undefined }
  if ((program.goesOn || program.unjudged !== undefined) && front === 'veto') {
    // Four answers are refused at first, then two, and then one for each request of the host.
    const isError = ended.errors.includes('Weir has refused')
    const isEnded = count <= 9 && (isError || end === 'weir')
    const asks = program.goesOn ? ': a text does not end its run' : ''
    return {
      found: `${count} requests, ${isError ? 'an error' : 'a text'} of Weir${asks}`,
      fault: isEnded ? undefined : 'Weir did not end the run',
    }
  }
  if (program.unjudged !== undefined) {
    const isWarned = warnings.includes('x-weir-conversation')
    return {
      found: `${count} requests, not judged: ${program.unjudged}`,
      fault: isWarned ? undefined : 'Weir warns of nothing',
    }
  }
  if (count > requestsMax + asksAgain) return { found, fault: `more than ${requestsMax} requests` }
  if (end === 'model' || end === 'weir' || !obeys) return { found }
  return { found, fault: `the turn ended in: ${JSON.stringify(reply.slice(-200))}` }
}

/**
 * The requests of the loop. A host may send one again at once, and start an agent of its own after the
 * turn that loops too.
 */
function counted(requests: readonly SeenRequest[]): { count: number; note: string } {
  const texts = requests.map((request) => JSON.stringify(messagesOf(request)))
  const once = requests.filter((_, at) => texts[at] !== texts[at - 1])
  // The marks of a cache move from message to message.
  const begins = once.map((request) =>
    JSON.stringify(messagesOf(request)[0], (key, value) =>
      key === 'cache_control' ? undefined : value,
    ),
  )
  const [first, second, ...more] = [...new Set(begins)]
  if (second === undefined || more.length > 0) {
    const repeats = requests.length - once.length
    return { count: once.length, note: repeats === 0 ? '' : `, ${repeats} of them sent twice` }
  }
  const ofFirst = begins.filter((begin) => begin === first).length
  const count = Math.max(ofFirst, once.length - ofFirst)
  return { count, note: `, and ${once.length - count} of an agent behind the turn` }
}

const endTexts = {
  model: 'a text of the model',
  weir: 'a text of Weir',
  none: 'no text',
  untrue: 'an untrue text of Weir',
  other: 'another text',
}

/** A text of Weir is untrue if it counts more rounds than there were requests. */
function endOf(reply: string, requests: number): keyof typeof endTexts {
  if (reply.trim() === '') return 'none'
  if (reply.includes(finalText)) return 'model'
  if (!/Weir|I could not complete this request/.test(reply)) return 'other'
  const counts = [...reply.matchAll(/(\d+) (?:rounds|times|answers)/g)].map(([, n]) => Number(n))
  return counts.some((one) => one > requests) ? 'untrue' : 'weir'
}
