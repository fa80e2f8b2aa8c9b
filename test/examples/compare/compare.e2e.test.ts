// Runs each compared program against the same model, and compares the table of their lines.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { compiled } from '../../support/compiled.ts'
import { installedProgram } from './installed-program.ts'
import { startModel } from './model.ts'
import { lineTable, programOf, programs } from './programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-compare-'))
let model: Awaited<ReturnType<typeof startModel>>

beforeAll(async () => {
  model = await startModel()
})

afterAll(async () => {
  await model.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The first URL that a program prints. */
async function urlIn(stream: Readable): Promise<string> {
  return new Promise((resolve) => {
    let printed = ''
    stream.on('data', (data) => {
      printed += data
      const [url] = /http:\/\/\S+(?=\n)/.exec(printed) ?? []
      if (url !== undefined) resolve(url)
    })
  })
}

/** `make compare` also runs the programs whose packages do not fit into this tree. */
const runs = programs.filter(
  ({ library: { folder } }) => folder === undefined || process.env.WEIR_TEST_COMPARE === 'all',
)

describe('the compared programs', () => {
  it.each(runs)('print the same for $job.title with $library.title', async ({ job, library }) => {
    const source = fileURLToPath(programOf(job, library))
    const program = library.folder === undefined ? source : await installedProgram(source)
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        MODEL_URL: model.url,
        OPENAI_AGENTS_DISABLE_TRACING: '1',
        MASTRA_TELEMETRY_DISABLED: '1',
        ...compiled,
      },
    })
    const exited = once(child, 'exit')
    if ('talk' in job) {
      try {
        expect(await job.talk(await urlIn(child.stderr))).toBe(job.out)
      } finally {
        child.kill()
        await exited
      }
      return
    }
    // A program may end before it has sent its last page. Its output proves that it was driven.
    if ('drive' in job)
      void urlIn(child.stderr)
        .then(job.drive)
        .catch(() => {})
    const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = await exited
    expect({ out, code, errors: code === 0 ? '' : errors }).toEqual({
      out: job.out,
      code: 0,
      errors: '',
    })
  })

  it('have the lines of code that README.md shows', () => {
    const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8')
    expect(readme).toContain(`\n${lineTable()}\n`)
  })
})
