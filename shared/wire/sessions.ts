// The programs whose recorded sessions Weir reads, and the formats of files. To add a program, write its
// folder and add a line here.

import { claudeCode } from './claude-code/session.ts'
import { cline } from './cline/session.ts'
import { codex } from './codex/session.ts'
import { copilot } from './copilot/session.ts'
import type { SessionFormat, SessionProgram, TranscriptFile, TranscriptFormat } from './format.ts'
import { historyFormats } from './formats.ts'
import { geminiCli } from './gemini-cli/session.ts'
import { hermes } from './hermes/session.ts'
import { openclaw } from './openclaw/session.ts'
import { opencode } from './opencode/session.ts'

export const sessionPrograms: readonly SessionProgram[] = [
  claudeCode,
  cline,
  codex,
  copilot,
  geminiCli,
  hermes,
  openclaw,
  opencode,
]

/** The sessions whose lines a file of any format can have. */
export const sessions: readonly SessionFormat[] = [...historyFormats, ...sessionPrograms].flatMap(
  ({ session }) => session ?? [],
)

/** A format that `weir import-transcript` reads. `session`: present for the sessions of a program. */
export type FileFormat = TranscriptFormat & { file: TranscriptFile; session?: SessionFormat }

/** The formats of files by their value of `--format`. */
export const fileFormats: ReadonlyMap<string, FileFormat> = new Map([
  ...historyFormats.flatMap(({ transcript }) => named(transcript.file?.name, transcript)),
  ...sessionPrograms.flatMap(({ name, session }) => named(name, session.messages, session)),
])

function named(
  name: string | undefined,
  { file, ...format }: TranscriptFormat,
  session?: SessionFormat,
): [string, FileFormat][] {
  if (name === undefined || file === undefined) return []
  return [[name, { ...format, file, ...(session && { session }) }]]
}
