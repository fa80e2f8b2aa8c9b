// The progress of the thing in question, as an answer states it.
//
// Only a statement counts: a member for the status, a leading line of a known
// form, or a short answer. A word in a longer text (a log, a document) is none.
// A running thing has priority over a finished one: a finished command may report
// a run that goes on. A member outside has priority over those inside it.
// Linear in the beginning of the answer. Most answers fail the first test.

import { isObject, jsonIn } from '../../../shared/lib/json/json-object.ts'
import { isBlocked } from './obstacle.ts'

/** `empty`: it has no text. `other`: it states nothing. */
export type Progress = 'running' | 'over' | 'empty' | 'other'

/**
 * `isOfCommand`: the call itself runs a command. Its own end, or that it runs, says nothing about the
 * thing.
 */
export function progressOf(text: string, isOfCommand: boolean): Progress {
  const head = text.slice(0, headCharsMax).trim()
  if (head === '' || emptyAnswer.test(head)) return 'empty'
  const hasHint = hint.test(head)
  if (/^[{[]/.test(head) && (hasHint || emptyContent.test(head))) {
    const json = text.length <= jsonCharsMax ? jsonIn(text) : undefined
    const progress = json === undefined ? firstMember(head) : progressIn(json, 0, isOfCommand)
    if (hasHint && progress !== undefined) return progress
    if (isObject(json) && emptyContent.test(head) && hasBlankContents(json)) return 'empty'
  }
  if (!hasHint) return 'other'
  if (isBlocked(text)) return 'running'
  return progressInLines(
    head,
    text.length > headCharsMax ? text.slice(-tailCharsMax) : '',
    isOfCommand,
  )
}

const headCharsMax = 1024
const tailCharsMax = 512
const jsonCharsMax = 16_384
const emptyAnswer = wholeOf([
  /(?:null|none|""|\{\}|\[\]|\.{3}|…|output:)/,
  /[([<]?(?:no|empty) (?:output|content|result)[)\]>]?\.?/,
  /\(?(?:\w{1,24} ){1,2}(?:completed|finished|succeeded|ran) (?:with no|without(?: any)?) output(?: or errors?)?\.?\)?/,
  /(?:<system-reminder>)?(?:warning: )?the file (?:exists but the contents are|is) empty\.?(?:<\/system-reminder>)?/,
])

/** A member of an answer in JSON that holds its text. */
const contentName = /^(?:content|output|stdout|stderr|text|error)$/
const emptyContent = /"(?:content|output|stdout|text)"\s*:\s*""/

/** Words without which no answer states a progress. */
const hint =
  /status|state|phase|running|executing|pending|queue|progress|ready|wait|output|exist|found|such|unknown|invalid|exit|complete|finish|fail|error|done|end|cancel|kill|terminat|expire|stop|abort|clos|gone|delet|denied|refus|forbid|authori|no longer|no active|success|succee|process|working|missing|starting|creating|provisioning|building|deploying|init(?:ializing|:\d)|updating|\b202\b|jobid|\bPD\b/i

// ── Members ──

const runningValue = wholeOf([
  /(?:(?:still|currently) )?(?:running|pending|queued|in ?progress|processing|working|executing)/,
  /started|starting|waiting(?: for [\w ]+)?|not (?:ready|started|finished)|enqueued|in queue|submitted/,
  /initializing|creating|provisioning|building|deploying|updating|progressing/,
  /containercreating|podinitializing|terminating|init:\d+\/\d+/,
  /(?:\w+ ){1,4}in progress/,
])
const overValue = wholeOf([
  /completed?|done|finished|ended|success(?:ful)?|succeeded|passed|ready|skipped|exited|exit/,
  /failed|failure|errore?d?|crashed|killed|terminated|cancell?ed|aborted|stopped|rejected|refused|denied/,
  /expired|timed out|timeout|dead|gone|not found|notfound|missing|unknown|closed|deleted/,
  /(?:\w+ ){1,4}(?:complete|failed)/,
])
/** Values of an envelope around the answer: the inner status counts. */
const envelope = /^success(?:ful)?$/

const statusName =
  /^(?!(?:prev|previous|last|old|former|next|target|desired|expected|initial)(?:[_-]|[A-Z]))(?:.{0,32}[a-z_-])?(?:[sS]tatus|[sS]tate|[pP]hase|STATUS|STATE|PHASE)$/
const runs = /^(?:is_?)?(?:running|pending|queued|in_?progress|still_?running)$/i
const isOverName = /^(?:is_?)?(?:ready|finished|done|completed?)$/i
const overTime = /^(?:finished|completed|ended)_?at$/i
const idName = /^(?:id|\w{1,24}(?:_id|Id|ID))$/
const exitCode = /^(?:exit_?code|return_?code)$/i
const things =
  /^(?:jobs|tasks|runs|agents|processes|builds|pods|checks|sessions|executions|deployments|workflow_runs|check_runs)$/i
const thingsMax = 32
const depthMax = 3

function progressIn(value: unknown, depth: number, isOfCommand: boolean): Progress | undefined {
  if (depth > depthMax) return undefined
  if (Array.isArray(value))
    return value.length === 1
      ? progressIn(value[0], depth + 1, isOfCommand)
      : ofStages(value, depth, isOfCommand)
  if (!isObject(value)) return undefined
  const own = ofMembers(value, isOfCommand)
  if (own === 'running' || (own === 'over' && !isEnvelope(value))) return own
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== 'object' || member === null) continue
    const inner =
      Array.isArray(member) && things.test(name)
        ? ofThings(member, depth, isOfCommand)
        : progressIn(member, depth + 1, isOfCommand)
    if (inner !== undefined) return inner
  }
  return own
}

function ofMembers(value: Record<string, unknown>, isOfCommand: boolean): Progress | undefined {
  let found: Progress | undefined
  for (const [name, member] of Object.entries(value)) {
    const progress =
      member === null && overTime.test(name) && Object.keys(value).some((key) => idName.test(key))
        ? 'running'
        : ofMember(name, member)
    if (isOfCommand && exitCode.test(name)) continue
    if (progress === 'running') return progress
    found ??= progress
  }
  return found
}

function ofMember(name: string, member: unknown): Progress | undefined {
  if (typeof member === 'string') {
    if (statusName.test(name)) return ofValue(member)
    return name === 'error' && member !== '' ? 'over' : undefined
  }
  if (typeof member === 'boolean') {
    if (runs.test(name)) return member ? 'running' : 'over'
    return isOverName.test(name) ? (member ? 'over' : 'running') : undefined
  }
  if (exitCode.test(name) && typeof member === 'number') return 'over'
  return name === 'error' && isObject(member) ? 'over' : undefined
}

/** A list of jobs runs while one of them runs. */
function ofThings(list: unknown[], depth: number, isOfCommand: boolean): Progress | undefined {
  const all = list.slice(0, thingsMax).map((item) => progressIn(item, depth + 1, isOfCommand))
  if (all.includes('running')) return 'running'
  return all.length > 0 && all.every((progress) => progress === 'over') ? 'over' : undefined
}

/** The stages of one job: some are over, and another runs. The tickets of a list do not run. */
function ofStages(list: unknown[], depth: number, isOfCommand: boolean): Progress | undefined {
  const all = list.slice(0, thingsMax).map((item) => progressIn(item, depth + 1, isOfCommand))
  const runs = list.some(
    (item) =>
      isObject(item) &&
      Object.entries(item).some(
        ([name, member]) =>
          statusName.test(name) && typeof member === 'string' && plain(member) === 'running',
      ),
  )
  return runs && all.includes('over') ? 'running' : undefined
}

/** Whether all members for a text are blank. */
function hasBlankContents(json: unknown): boolean {
  return contentsOf(json, 0).every((content) => content.trim() === '')
}

function contentsOf(value: unknown, depth: number): string[] {
  if (!isObject(value) || depth > depthMax) return []
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member === 'string') return contentName.test(name) ? [member] : []
    return contentsOf(member, depth + 1)
  })
}

function isEnvelope(value: Record<string, unknown>): boolean {
  return Object.entries(value).some(
    ([name, member]) =>
      statusName.test(name) && typeof member === 'string' && envelope.test(plain(member)),
  )
}

function ofValue(value: string): Progress | undefined {
  const word = plain(value)
  return runningValue.test(word) ? 'running' : overValue.test(word) ? 'over' : undefined
}

function plain(value: string): string {
  return value.length > 48
    ? ''
    : value
        .trim()
        .toLowerCase()
        .replace(/[\s_-]+/g, ' ')
}

/** Of JSON that is cut off or too long to parse: its first status decides. */
function firstMember(head: string): Progress | undefined {
  for (const [, name = '', value = ''] of head.matchAll(/"(\w{1,32})"\s*:\s*"([^"]{1,48})"/g))
    if (statusName.test(name)) return ofValue(value)
  return undefined
}

// ── Lines ──

const shortCharsMax = 512
const leadLinesMax = 4
const shortLinesMax = 16

function progressInLines(head: string, tail: string, isOfCommand: boolean): Progress {
  const isShort = tail === '' && head.length <= shortCharsMax
  const lines = head.split('\n', isShort ? shortLinesMax : leadLinesMax)
  const last = isShort ? '' : (tail || head).trimEnd().split('\n').slice(-2).join('\n')
  let isOver = false
  let isSilent = noNewOutput.test(last)
  if (lines.length === 1 && soleWord.test(head)) return 'running'
  for (const whole of lines) {
    const line = whole.trim().slice(0, lineCharsMax)
    const progress = ofLine(line, { isShort, isAlone: lines.length === 1, isOfCommand })
    if (progress === 'running') return progress
    if (progress === 'over' && !(isOfCommand && exitLine.test(line))) isOver = true
    else if (noNewOutput.test(line)) isSilent = true
  }
  // A silent thing may be over, which another line states.
  if (isSilent && !(isShort && isOver)) return 'running'
  return isOver ? 'over' : 'other'
}

const exitLine = /\bexit(?:ed)?\b.{0,12}\bcode\b/i
const lineCharsMax = 200

function ofLine(
  line: string,
  { isShort, isAlone, isOfCommand }: { isShort: boolean; isAlone: boolean; isOfCommand: boolean },
): Progress | undefined {
  if (line === '') return undefined
  if (negation.test(line)) return 'over'
  const named =
    /^\W{0,4}(?:[\w.#-]{1,24} ){0,2}<?(?:\w{0,16}[ _-])?(?:status|state|phase)>?["']?\s{0,4}[:=>]?\s{0,4}["'`(]{0,2}([a-z]+(?:[ _-][a-z]+)?)/i.exec(
      line,
    )?.[1]
  const byName =
    named === undefined ? undefined : (ofValue(named) ?? ofValue(named.split(/[ _-]/)[0] ?? ''))
  if (byName !== undefined) return byName
  const whole = ofValue(line.replace(/^\W+|\W+$/g, ''))
  if (whole === 'running' ? whole !== undefined && wholeLine.test(line) : whole === 'over')
    return whole
  if (waitingFor.test(line)) return 'running'
  // Of a call with a command, the frame is about that command: each repeat starts another one.
  if (!isOfCommand && frame.test(line)) return 'running'
  const state = thingWithState.exec(line)?.[1]
  if (state !== undefined && ofValue(state) !== undefined) return ofValue(state)
  if (isShort && (row.test(line) || table(line))) return 'running'
  // A command prints much about itself, so a sentence of it counts only alone.
  if (isShort && (isAlone || !isOfCommand) && statement.test(line)) return 'running'
  return overLine.test(line) && !share.test(line) ? 'over' : undefined
}

/** As the only words of a line. `processing` or `working` alone says too little. */
const wholeLine =
  /^\W*(?:(?:still|currently) )?(?:running|pending|queued|in[ _-]progress|not (?:yet )?ready|waiting)\W*$/i
/** As the only word in the answer. */
const soleWord =
  /^\W*(?:creating|starting|initializing|provisioning|building|deploying|updating|progressing|\w{1,40}_in_progress)\W*$/i
const noNewOutput = /\bno (?:new output|output yet)\b/i
/** The line with which a host begins the answer about a thing that it runs. */
const frame =
  /^\W{0,4}(?:the )?(?:process|command|session|shell|task|job|agent)\b[^.]{0,80}? (?:is )?(?:still |currently )?running\b(?! (?:on|at|if|when|until)\b)/i
/** The lines with which a client begins such an answer. */
const waitingFor = /^\W{0,4}waiting for \S|^HTTP\/[\d.]{1,4} 202\b/i
/** `Agent a77: working`, `* Run CI (88123) in progress`. */
const thingWithState =
  /^\W{0,4}(?:process|session|task|job|agent|build|run|pipeline|deployment) (?:[\w.#-]{1,40}\s?[:=-]|[\w.# -]{1,40} \(\d{1,20}\)) ?([\w -]{1,32})$/i
/** One line that says of a thing that it still runs. */
const statement = anyOf([
  /^[^.:;]{1,80}? (?:is|are|remains?) (?:still |currently |now )?(?:running|executing|pending|queued|in progress|not (?:yet )?(?:ready|finished|complete|done)|being processed)(?: (?:yet|now))?(?:\s*$|\s*[.,;!)(\]…]|\s+(?:with|for \d|since|after|under|\d))/,
  /^\W*(?:still|not yet) (?:running|pending|queued|in progress|ready|finished|complete|done|waiting)\b/,
  /^\W*(?:[\w-]{1,24} ){0,2}not (?:yet )?ready\b/,
])
/** A row of `jobs`, and one of `squeue` that waits for its nodes. */
const row = anyOf([
  /^\W{0,4}\[[^\]]{0,24}\d\][-+]?\s{1,4}running\b/,
  /^\s*\d+ .{1,80} (?:PD|CF) +[\d:-]{4,12} /,
])
/** A state that the thing no longer has, or never had. */
const negation = anyOf([
  /\b(?:not|isn't|no longer|already|never) (?:running|active|alive|exist|available|completed|finished|exited|terminated|closed|cancell?ed)\b/,
  /\bno (?:longer|active|running|background|previous|such|matching) (?:[\w-]{1,24} ){0,2}(?:process|session|job|task|shell|command|run|agent|terminal|build|execution|deployment|id)(?:e?s)?\b/,
  /^\W*no (?:process|session|job|task|shell|command|run|agent|terminal|build|execution|deployment)(?:e?s)? (?:was |were )?(?:found|with|matching|named|exists?)\b/,
  /\bno longer (?:exists?|runs?|available)\b/,
])
const overLine = anyOf([
  /\b(?:not found|no such|(?:does|do|did) ?n[o']t exist|(?:access|permission) (?:is |was )?denied|not authori[sz]ed|unauthori[sz]ed|forbidden|refused)\b/,
  /\b(?:unknown|invalid|expired|closed|stale) (?:[\w-]{1,24} ){0,2}(?:process|session|job|task|shell|command|run|agent|terminal|build|execution|id)s?\b/,
  /\b(?:exited|terminated|killed|failed|finished|completed|ended) (?:with|by|at|on)\b/,
  /\bexit(?:ed)? ?(?:code|status)\b|^\W*(?:error|failed|failure|fatal)\b/,
  /\b(?:process|session|job|task|command|shell|run|build|agent|pipeline|workflow|deployment|execution|operation|container|it)\b[^.:\n]{0,48}? (?:(?:has|have|had) (?:been )?|(?:was|is|were) )?(?:already )?(?:exited|completed|finished|ended|failed|succeeded|terminated|stopped|killed|cancell?ed|aborted|expired|closed|gone|deleted|removed|crashed)\b/,
])
/** A share is progress: `3 of 10 tasks completed`. */
const share = /\d ?(?:\/|of) ?\d|\d ?%/

/** A row of a table: not all parts are ready, or a cell is a state. */
function table(line: string): boolean {
  const cells = line.split(/\t| {2,}| (?=\d+\/\d+ )|(?<=\d\/\d+) |(?<=\d\/\d+ [\w:/]{1,40}) (?=\d)/)
  if (cells.length < 2) return false
  const states = cells.map(plain)
  if (
    states.some((cell) =>
      /^(?:pending|queued|in progress|containercreating|podinitializing|terminating|init:\d+\/\d+)$/.test(
        cell,
      ),
    )
  )
    return true
  const isRunning = states.includes('running')
  const ready = /\b(\d{1,4})\/(\d{1,4})\b/.exec(line)
  return isRunning && ready !== null && Number(ready[1]) < Number(ready[2])
}

/** One regular expression for a list of alternatives. It ignores case. */
function anyOf(alternatives: RegExp[]): RegExp {
  return new RegExp(alternatives.map(({ source }) => source).join('|'), 'i')
}

function wholeOf(alternatives: RegExp[]): RegExp {
  return new RegExp(`^(?:${anyOf(alternatives).source})$`, 'i')
}
