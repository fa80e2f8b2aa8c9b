// Prints the faults of the prose lint: node test/prose/main.ts [--titles] FOLDER-OR-FILE…
// Without --titles the titles of tests are left out.

import { readFileSync } from 'node:fs'
import { faultsIn } from './prose.ts'
import { textsIn } from './sources.ts'

const paths = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const titles = process.argv.includes('--titles')

const faults = paths
  .flatMap((path) => textsIn('.', path))
  .flatMap((file) => faultsIn(file, readFileSync(file, 'utf8')))
  .filter(({ kind }) => titles || kind !== 'title')
for (const { file, line, rule, sentence } of faults) {
  console.log(`${file}:${line}: ${rule}\n    ${sentence}`)
}
console.log(`${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
