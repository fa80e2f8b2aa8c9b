// `weir scan` reads the sessions that agents have stored on this machine, judges them, and shows one
// screen. Only `--html` and `--github` write a file, and nothing leaves the machine.

import { createHash, randomUUID } from 'node:crypto'
import { appendFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import { hostTitle } from '../../../shared/hosts/hosts.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { usageError, WeirError } from '../../../shared/lib/errors.ts'
import { refuseTaken, writeWhole } from '../../../shared/lib/files/whole-file.ts'
import { unreadable } from '../../../shared/settings/text-file.ts'
import { createLeftOut } from '../../../shared/transcript/left-out.ts'
import type { Transcript } from '../../../shared/transcript/transcript.ts'
import type { Money } from '../../../shared/view/totals.ts'
import { ownCommand } from '../../terminal/own-command.ts'
import { createProgress } from '../../terminal/progress.ts'
import { instantOfFlag } from '../../terminal/text/instant-text.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { readTranscripts } from '../../transcripts/read-transcripts.ts'
import { bundleAgent, bundleSessions } from './bundle-sessions.ts'
import { checkpointsIn } from './entire-checkpoints.ts'
import { annotations, summary } from './github.ts'
import { type JudgedSession, judgedSession } from './judged-session.ts'
import { createOwnResponses, type OwnResponses } from './own-responses.ts'
import { printScan } from './print-scan.ts'
import { scanHtml } from './scan-html.ts'
import { type ScanWords, scanScreen } from './scan-screen.ts'
import { createScanTotals, type Scanned, type ScanTotals } from './scan-totals.ts'
import {
  type SessionFile,
  type SessionFiles,
  sessionStores,
  sessionsAt,
  storedSessions,
} from './session-files.ts'

/**
 * `agent`: names of `sessionStores`; undefined: all. `path`: a file or a folder in place of the stores. `repo`:
 * the folder in which the sessions ran. `html`: a file for the page. `github`: the outputs for a job there.
 */
export type ScanOptions = {
  agent?: string[]
  path?: string
  repo?: string
  since?: string
  failOn?: string
  json?: boolean
  github?: boolean
  html?: string
  force?: boolean
}

/** `home`: the user's. `guardText`: the line that shows how to guard an agent. `out`: for the screen, or the JSON. */
export type ScanContext = {
  guardText: (agent: string) => string | undefined
  home: string
  environment: NodeJS.ProcessEnv
  out: NodeJS.WriteStream
}

/** Resolves to the exit code: 1 for a loop under `failOn`, otherwise 0. Throws `usage`, `output.*`. */
export async function scan(options: ScanOptions, context: ScanContext): Promise<0 | 1> {
  const { html, github = false, force = false } = options
  const summaryFile = context.environment.GITHUB_STEP_SUMMARY
  if (github && summaryFile === undefined)
    throw usageError('--github needs a job of GitHub Actions, which sets GITHUB_STEP_SUMMARY')
  if (html !== undefined) refuseTaken(html, { force })
  const since =
    options.since === undefined
      ? undefined
      : instantOfFlag('--since', options.since, systemClock.now())
  const { files, unread, all } = filesOf(options, since, context)
  const ranIn = options.repo === undefined ? undefined : inFolder(options.repo)
  const totals = createScanTotals()
  const ownResponses = createOwnResponses()
  for (const folder of unread)
    totals.leftOut('a folder that cannot be read, or that is too deep', folder)
  const progress = createProgress(process.stderr, systemClock, context.environment, {
    doing: 'reading sessions',
    what: 'byte',
  })
  const checkpoints = options.repo === undefined ? [] : checkpointFiles(options, totals)
  progress.expect([...files, ...checkpoints].reduce((sum, { bytes }) => sum + bytes, 0))
  try {
    for (const file of [...files, ...checkpoints]) {
      await addFile(file, { since, ranIn, ownResponses }, totals)
      progress.read(file.bytes)
    }
  } finally {
    progress.end()
  }
  const scanned = totals.scanned()
  const screen = scanScreen(scanned, wordsIn(context, nothingText(options, all)))
  if (html !== undefined) await writeWhole(html, scanHtml(screen), { force })
  const print = () => {
    if (options.json) context.out.write(`${printableJson(inDollars(scanned))}\n`)
    else printScan(screen, context.out)
  }
  if (github && summaryFile !== undefined) {
    const folder = context.environment.GITHUB_WORKSPACE ?? process.cwd()
    appendFileSync(summaryFile, summary(scanned, screen, folder))
    for (const line of annotations(screen, folder)) context.out.write(`${line}\n`)
    const word = randomUUID() // no text of a session can end the stop
    context.out.write(`::stop-commands::${word}\n`)
    print()
    context.out.write(`::${word}::\n`)
  } else print()
  return options.failOn === 'loops' && scanned.loops > 0 ? 1 : 0
}

/** The sums in money as dollars. */
function inDollars({ moneyAfter, worst, ...facts }: Scanned) {
  return {
    ...facts,
    moneyAfter: dollars(moneyAfter),
    worst: worst.map((loop) => ({ ...loop, moneyAfter: dollars(loop.moneyAfter) })),
  }
}

const dollars = (money: Money) => ({ ...money, usd: money.usd / 1e9 })

function wordsIn({ environment, guardText }: ScanContext, nothing: string): ScanWords {
  const weir = ownCommand(environment, process.cwd())
  return {
    nothing,
    titleOf: hostTitle,
    commandOf: (agent) => {
      if (agent === bundleAgent) return undefined
      return (
        guardText(agent) ??
        `Guard ${hostTitle(agent)}: ${weir} proxy --upstream URL, the base URL of its model`
      )
    },
  }
}

/** `files`: without --since and --repo. */
function nothingText({ path, since, repo }: ScanOptions, files: number): string {
  const flags = [
    ...(since === undefined ? [] : [`--since ${since}`]),
    ...(repo === undefined ? [] : [`--repo ${repo}`]),
  ]
  if (files > 0 && flags.length > 0)
    return `No session in ${count(files, 'file')} matches ${flags.join(' and ')}.`
  if (path !== undefined) return `No session was found in ${path}.`
  const places = [...sessionStores].map(
    ([agent, { home, inside, variable }]) =>
      `${hostTitle(agent)} keeps them in ${join('~', home, inside)}, or below ${variable}`,
  )
  return `No session was found. ${places.join('. ')}. Name another place with --path.`
}

/** Whether a place is this folder, below it, or the SHA-256 of its path. Throws `usage`. */
function inFolder(repo: string): (place: string) => boolean {
  let folder: string
  try {
    folder = realpathSync(repo)
  } catch (error) {
    throw usageError(`${repo} ${unreadable(error)}`, { cause: error })
  }
  const hash = createHash('sha256').update(folder).digest('hex')
  return (place) => place === folder || place === hash || place.startsWith(`${folder}/`)
}

function filesOf(
  { agent = [...sessionStores.keys()], path }: ScanOptions,
  since: Milliseconds | undefined,
  context: ScanContext,
): SessionFiles & { all: number } {
  const unknown = agent.find((name) => !sessionStores.has(name))
  if (unknown !== undefined)
    throw usageError(
      `--agent is '${printable(unknown)}': Weir finds the sessions of ${[...sessionStores.keys()].join(', ')}`,
    )
  const { files, unread } =
    path === undefined ? storedSessions(agent, context) : sessionsAt(path, agent)
  const wanted = files.filter(({ changedAt }) => since === undefined || changedAt >= since)
  return { files: wanted, unread, all: files.length }
}

/** `since`, `ranIn`, `content`: as of readTranscripts. */
type Wanted = {
  ownResponses: OwnResponses
  since?: Milliseconds | undefined
  ranIn?: ((place: string) => boolean) | undefined
  content?: SessionFile['content']
}

/** Without a time, because no checkpoint tells when its session changed. */
function checkpointFiles(
  { repo = '.', agent = [...sessionStores.keys()] }: ScanOptions,
  totals: ScanTotals,
): SessionFile[] {
  const { checkpoints, unread } = checkpointsIn(repo)
  for (const ref of unread) totals.leftOut('checkpoints that Git cannot read', ref)
  return checkpoints.flatMap(({ session, agent: title, place, bytes, read }) => {
    const own = agent.filter((name) => title === '' || hostTitle(name) === title)
    const content = { name: session, read }
    return own.length === 0 ? [] : [{ file: place, agents: own, bytes, changedAt: 0, content }]
  })
}

async function addFile(
  { file, agents, content }: SessionFile,
  { since, ranIn, ownResponses }: Wanted,
  totals: ScanTotals,
): Promise<void> {
  let isOther = false
  const only = (place: string) => {
    const own = ranIn?.(place) ?? true
    if (!own) isOther = true
    return own
  }
  for (const agent of agents) {
    const wanted = content === undefined ? { since, ranIn: ranIn && only } : { content }
    const { sessions, isCopy } = await sessionsIn(file, agent, { ...wanted, ownResponses })
    for (const session of sessions)
      if (content === undefined || !totals.has(agent, session.conversation))
        totals.add(agent, file, session)
    if (sessions.length > 0 || isOther || isCopy) return
  }
  const missing = ranIn === undefined ? 'a session' : 'a session that names its folder'
  totals.leftOut(`a file without ${missing}`, file)
}

/** The sessions of an agent in a file. None and no copy: nothing can be read. `isCopy`: of sessions of earlier files. */
async function sessionsIn(
  file: string,
  agent: string,
  { since, ranIn, content, ownResponses }: Wanted,
): Promise<{ sessions: JudgedSession[]; isCopy: boolean }> {
  let isCopy = false
  const judgedAs = (transcript: Transcript) =>
    judgedSession(transcript, { host: agent, policy: defaultPolicy })
  try {
    if (agent === bundleAgent) return { sessions: await bundleSessions(file, judgedAs), isCopy }
    const { transcripts, close } = await readTranscripts(file, {
      format: agent,
      ...(since !== undefined && { since }),
      ...(ranIn !== undefined && { ranIn }),
      ...(content !== undefined && { content: { name: content.name, text: content.read() } }),
      idField: undefined,
      leftOut: createLeftOut(), // single lines, which the scan does not list
      signal: new AbortController().signal,
      read() {},
    })
    try {
      const sessions: JudgedSession[] = []
      for (const transcript of transcripts(() => {})) {
        const own = content === undefined ? ownResponses(agent, transcript) : transcript
        if (own === undefined) isCopy = true
        else sessions.push(judgedAs(own))
      }
      return { sessions, isCopy }
    } finally {
      close()
    }
  } catch (error) {
    if (error instanceof WeirError) return { sessions: [], isCopy }
    throw error
  }
}
