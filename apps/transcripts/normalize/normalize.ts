// `weir normalize` shows how Weir reads recorded streams, offline.

import { readFile, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { providerNamed } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { parseJson } from '../../../shared/wire/exact-json.ts'
import { printableJson } from '../../terminal/text/printable.ts'
import type { OfferedTool } from './judged-round.ts'
import { normalized, unreadable } from './normalized.ts'
import { pageOf } from './print-normalized.ts'

/** Bytes of a recorded stream that `weir normalize` reads, and of a file with tools for it. */
const recordingBytesMax = 64 * 1024 * 1024

const columnsDefault = 120

/** `columns`: of a terminal. */
export type NormalizeOutput = Writable & { columns?: number }

/** Resolves to the exit code. 1: one of the files is not a recorded stream. */
export async function normalize(
  files: string[],
  options: { provider: string; tools?: string; json?: boolean },
  out: NormalizeOutput,
): Promise<number> {
  const provider = providerNamed(options.provider)
  const tools = options.tools === undefined ? undefined : await offeredTools(options.tools)
  let exitCode = 0
  for (const file of files) {
    const bytes = await bytesOf(file)
    const answer = Buffer.isBuffer(bytes)
      ? await normalized({ file, bytes, provider, tools })
      : { normalized: unreadable(file, bytes), streamed: { events: [], rounds: [], refusal: '' } }
    if (answer.normalized.error?.code === 'recording.invalid') exitCode = 1
    if (options.json) out.write(`${printableJson(answer.normalized)}\n`)
    else
      out.write(
        `${pageOf(answer.normalized, answer.streamed, out.columns ?? columnsDefault).join('\n')}\n\n`,
      )
  }
  return exitCode
}

/** The file, or the reason why it cannot be read. */
async function bytesOf(file: string): Promise<Buffer | string> {
  try {
    const { size } = await stat(file)
    if (size > recordingBytesMax)
      return `the file has ${size} bytes; at most ${recordingBytesMax} are read`
    return await readFile(file)
  } catch (error) {
    return `the file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'no reason given'})`
  }
}

async function offeredTools(file: string): Promise<OfferedTool[]> {
  const bytes = await bytesOf(file)
  if (!Buffer.isBuffer(bytes)) throw usageError(`--tools ${file}: ${bytes}`)
  const list = parseJson(bytes.toString('utf8'))
  if (!Array.isArray(list))
    throw usageError(`--tools ${file}: must be a JSON array of {name, schema}`)
  const tools = list.map((tool: unknown, n) => {
    if (!isObject(tool) || typeof tool.name !== 'string' || !isObject(tool.schema))
      throw usageError(
        `--tools ${file}: element ${n} must be {"name": a text, "schema": an object}`,
      )
    return { name: tool.name, schema: tool.schema }
  })
  const repeated = tools.findIndex(
    ({ name }, n) => tools.findIndex((other) => other.name === name) < n,
  )
  if (repeated >= 0) {
    const { name } = tools[repeated] as OfferedTool
    throw usageError(
      `--tools ${file}: element ${repeated} has the name of an earlier one, '${name}'; names must be unique`,
    )
  }
  return tools
}
