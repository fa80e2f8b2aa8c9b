// `make mutate` breaks the judgement of loops in small ways, one at a time, in a copy of the tree.
// It reports the mutants that the detector's tests do not notice. A mutant that survives is a
// threshold or a mask without a test. It takes minutes, so `make test` does not run it.
// `make mutate PART=2/6` tries the second sixth of them.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Mutant, mutantsOf } from './mutants.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const copied = [
  'apps',
  'client',
  'schemas',
  'services',
  'shared',
  'test',
  'jest.config.js',
  'package.json',
]

const copy = mkdtempSync(join(tmpdir(), 'weir-mutants-'))
process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
process.once('SIGINT', () => process.exit(130))
for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true })
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))

if (!pass()) {
  console.error(
    'the tests fail without a mutant: fix that first (make test ARGS=test/services/loop-detector)',
  )
  process.exit(1)
}
const [part = 1, parts = 1] = (process.argv[2] ?? '1/1').split('/').map(Number)
const all = mutantsOf((file) => readFileSync(join(root, file), 'utf8'))
const mutants = all.slice(
  Math.floor(((part - 1) * all.length) / parts),
  Math.floor((part * all.length) / parts),
)
if (mutants.length === 0)
  throw new Error(`${process.argv[2]} is no part of ${all.length} mutants: give one like 2/6`)
const survivors = mutants.filter((mutant) => {
  const survives = tried(mutant)
  console.log(
    `${all.indexOf(mutant) + 1} of ${all.length} ${survives ? 'SURVIVES' : 'noticed '} ${describe(mutant)}`,
  )
  return survives
})
console.log(`${mutants.length - survivors.length} of ${mutants.length} mutants were noticed`)
process.exitCode = survivors.length === 0 ? 0 : 1

function tried({ file, line, change }: Mutant): boolean {
  const source = readFileSync(join(root, file), 'utf8')
  const lines = source.split('\n')
  lines.splice(line - 1, 1, ...(change === null ? [] : [change]))
  writeFileSync(join(copy, file), lines.join('\n'))
  try {
    return pass()
  } finally {
    writeFileSync(join(copy, file), source)
  }
}

function pass(): boolean {
  const jest = [
    'node_modules/jest/bin/jest.js',
    '--bail',
    '--silent',
    'test/services/loop-detector',
  ]
  return runs(['test/mutation/corpus.ts']) && runs(jest)
}

function runs(script: string[]): boolean {
  return spawnSync(process.execPath, script, { cwd: copy, stdio: 'ignore' }).status === 0
}

function describe({ file, line, was, change }: Mutant): string {
  return `${file}:${line} ${change === null ? `without ${was.trim()}` : change.trim()}`
}
