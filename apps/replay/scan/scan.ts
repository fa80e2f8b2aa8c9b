// `weir scan` reads the sessions that agents have stored on this machine, judges them, and shows one
// screen. Nothing is written, and nothing leaves the machine.

import { defaultPolicy } from '../../../shared/agents/agents.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { usageError, WeirError } from '../../../shared/lib/errors.ts'
import { createLeftOut } from '../../../shared/transcript/left-out.ts'
import { createProgress } from '../../terminal/progress.ts'
import { instantOfFlag } from '../../terminal/text/instant-text.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { readTranscripts } from '../../transcripts/read-transcripts.ts'
import { type JudgedSession, judgedSession } from './judged-session.ts'
import { printScan } from './print-scan.ts'
import { createScanTotals, type ScanTotals } from './scan-totals.ts'
import {
  type SessionFile,
  type SessionFiles,
  sessionStores,
  sessionsAt,
  storedSessions,
} from './session-files.ts'

/** `agent`: names of `sessionStores`; undefined: all. `path`: a file or a folder in place of the stores. */
export type ScanOptions = {
  agent?: string[]
  path?: string
  since?: string
  failOn?: string
  json?: boolean
}

/** `home`: the user's. `out`: for the screen, or the JSON. */
export type ScanContext = {
  home: string
  environment: NodeJS.ProcessEnv
  out: NodeJS.WriteStream
}

/** Resolves to the exit code: 1 for a loop under `failOn`, otherwise 0. Throws `usage`. */
export async function scan(options: ScanOptions, context: ScanContext): Promise<0 | 1> {
  const since =
    options.since === undefined
      ? undefined
      : instantOfFlag('--since', options.since, systemClock.now())
  const { files, unread } = filesOf(options, since, context)
  const totals = createScanTotals()
  for (const folder of unread)
    totals.leftOut('a folder that cannot be read, or that is too deep', folder)
  const progress = createProgress(process.stderr, systemClock, context.environment, {
    doing: 'reading sessions',
    what: 'byte',
  })
  progress.expect(files.reduce((sum, { bytes }) => sum + bytes, 0))
  try {
    for (const file of files) {
      await addFile(file, since, totals)
      progress.read(file.bytes)
    }
  } finally {
    progress.end()
  }
  const scanned = totals.scanned()
  if (options.json) context.out.write(`${printableJson(scanned)}\n`)
  else printScan(scanned, context.out)
  return options.failOn === 'loops' && scanned.loops > 0 ? 1 : 0
}

function filesOf(
  { agent = [...sessionStores.keys()], path }: ScanOptions,
  since: Milliseconds | undefined,
  context: ScanContext,
): SessionFiles {
  const unknown = agent.find((name) => !sessionStores.has(name))
  if (unknown !== undefined)
    throw usageError(
      `--agent is '${printable(unknown)}': Weir finds the sessions of ${[...sessionStores.keys()].join(', ')}`,
    )
  const found = path === undefined ? storedSessions(agent, context) : sessionsAt(path, agent)
  if (since === undefined) return found
  return { ...found, files: found.files.filter(({ changedAt }) => changedAt >= since) }
}

async function addFile(
  { file, agents }: SessionFile,
  since: Milliseconds | undefined,
  totals: ScanTotals,
): Promise<void> {
  for (const agent of agents) {
    const sessions = await sessionsIn(file, agent, since)
    for (const session of sessions) totals.add(agent, file, session)
    if (sessions.length > 0) return
  }
  totals.leftOut('a file without a session', file)
}

/** The sessions of an agent in a file. Empty: none can be read. */
async function sessionsIn(
  file: string,
  agent: string,
  since: Milliseconds | undefined,
): Promise<JudgedSession[]> {
  const how = {
    format: agent,
    since,
    idField: undefined,
    leftOut: createLeftOut(), // single lines, which the scan does not list
    signal: new AbortController().signal,
    read() {},
  }
  try {
    const { transcripts, close } = await readTranscripts(file, how)
    try {
      return [...transcripts(() => {})].map((transcript) =>
        judgedSession(transcript, { host: agent, policy: defaultPolicy }),
      )
    } finally {
      close()
    }
  } catch (error) {
    if (error instanceof WeirError) return []
    throw error
  }
}
