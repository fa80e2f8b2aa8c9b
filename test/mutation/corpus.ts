// The first check of a mutant: are all traces of test/corpus judged as labelled? It takes a second,
// and the tests take ten or more. It finds most mutants. Ends with 1 at the first trace that is
// judged differently.

import { readdirSync, readFileSync } from 'node:fs'
import { givenBy } from '../../apps/replay/judge/overrides.ts'
import { readScenarios } from '../../apps/replay/judge/scenario-file.ts'
import { judge } from '../../apps/replay/judge/verdict.ts'
import { built } from '../corpus/built/built.ts'

const folder = new URL('../corpus/', import.meta.url)
const given = givenBy([])
const isAsLabelled =
  built.every((scenario) => judge(scenario, given).ok === true) &&
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .every((file) =>
      readScenarios(file, readFileSync(new URL(file, folder), 'utf8')).every(
        (scenario) => judge(scenario, given).ok === true,
      ),
    )
process.exitCode = isAsLabelled ? 0 : 1
