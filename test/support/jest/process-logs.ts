// The outputs of all processes that tests start, as files: one folder for each test file. The reporter
// removes the folder if the file passed, and prints its name if not.

import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync, mkdirSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { Readable } from 'node:stream'

export type CurrentTest = { testPath?: string; currentTestName?: string }

/** The folder for the logs of a run. The set-up of the run sets it. */
export const logsVariable = 'WEIR_TEST_LOGS'

/** Bytes of one process. */
const logMax = 4 * 1024 * 1024

const root = join(import.meta.dirname, '..', '..', '..')

export function logsFolder(): string | undefined {
  return process.env[logsVariable]
}

/** `file`: a test file, relative to the checkout. */
export function logFolderOf(file: string): string | undefined {
  const folder = logsFolder()
  return folder === undefined ? undefined : join(folder, file.replaceAll('/', '.'))
}

/** From now on in this process. */
export function logProcesses(currentTest: () => CurrentTest): void {
  const folder = logsFolder()
  if (folder === undefined) return
  let started = 0
  subscribe('child_process', (message) => {
    const { process: child } = message as { process: ChildProcess }
    const { testPath, currentTestName = '' } = currentTest()
    if (testPath === undefined) return
    started += 1
    const number = `${process.pid}-${started}`
    // The channel is called before the process has streams. They have no data before the next task.
    queueMicrotask(() => {
      const fileFolder = logFolderOf(relative(root, testPath))
      if (fileFolder === undefined || (child.stdout === null && child.stderr === null)) return
      const log = join(fileFolder, `${number}-${basename(child.spawnfile ?? 'process')}.log`)
      const write = logWriter(log, `${currentTestName}\n$ ${child.spawnargs?.join(' ')}\n`)
      for (const stream of [child.stdout, child.stderr]) copyChunks(stream, write)
    })
  })
}

/** Creates the file with its first chunk. */
function logWriter(log: string, header: string): (chunk: Uint8Array | string) => void {
  let size = 0
  return (chunk) => {
    if (size > logMax) return
    if (size === 0) {
      mkdirSync(join(log, '..'), { recursive: true })
      appendFileSync(log, header)
    }
    size += chunk.length
    appendFileSync(log, chunk)
  }
}

/** A listener would start the stream before the test reads it, so this copies each chunk that enters its queue. */
function copyChunks(stream: Readable | null, write: (chunk: Uint8Array | string) => void): void {
  if (stream === null || stream === undefined) return
  const push = stream.push.bind(stream)
  stream.push = (chunk, encoding) => {
    if (chunk !== null) write(chunk)
    return push(chunk, encoding)
  }
}
