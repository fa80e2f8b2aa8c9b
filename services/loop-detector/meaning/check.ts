// A run of tests, of a linter or of a compiler, in any spelling: `pytest a.py`, `python -m pytest -q a.py`.
// Two spellings with the same targets are one check.

import { programsIn, words } from '../evidence/effect.ts'

/** Tools and programs that check something. */
export const checkers = words(
  'test tests jest vitest mocha pytest tox rspec phpunit check verify validate lint eslint tsc ruff mypy build compile ci',
)
/** Programs that start a checker. */
const runners = words(
  'python npx npm yarn pnpm bun bunx deno poetry uv pipenv bundle exec run rake cargo go make just gradle gradlew mvn mvnw dotnet mix swift',
)
/** Programs that only shorten the output. */
const filters = words('tail head grep cat echo')

/** The targets of a command that only checks: its words but for programs and options. */
export function targetsIn(command: string): string | undefined {
  let targets: string | undefined
  for (const { program, argv } of programsIn(command)) {
    if (filters.has(program)) continue
    const words = [program, ...argv].filter((word) => !word.startsWith('-'))
    const at = words.findIndex((word) => !runners.has(word.replace(/^.*\/|[\d.]+$/g, '')))
    if (!checkers.has((words[at] ?? '').replace(/^.*\//, ''))) return undefined
    targets = [targets, ...words.slice(at + 1)].join(' ')
  }
  return targets
}
