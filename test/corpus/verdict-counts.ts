// Counts of verdicts: traces of the corpus under the default settings, and honest commands before the
// guard `shell`. Each run gives the same counts on any machine.

import { readdirSync, readFileSync } from 'node:fs'
import { givenBy } from '../../apps/replay/judge/overrides.ts'
import { readScenarios } from '../../apps/replay/judge/scenario-file.ts'
import { judge } from '../../apps/replay/judge/verdict.ts'
import { honestCommands } from '../services/guards/shell/honest.ts'
import { codeOf, judged } from '../services/guards/shell/judged.ts'

export function verdictCounts(): { name: string; value: number; unit: string }[] {
  const folder = new URL('./', import.meta.url)
  const traces = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readScenarios(name, readFileSync(new URL(name, folder), 'utf8')))
    .map((trace) => ({ fires: trace.expect?.fires, verdict: judge(trace, givenBy([])) }))
  const honest = traces.filter(({ fires }) => fires === false)
  const loops = traces.filter(({ fires }) => fires === true)
  const commands = honestCommands(2_000)
  return [
    {
      name: 'honest traces in the corpus that a rule stops or nudges',
      value: honest.filter(({ verdict }) => verdict.step !== null).length,
      unit: `of ${honest.length}`,
    },
    {
      name: 'looping traces in the corpus that are found in time',
      value: loops.filter(({ verdict }) => verdict.ok).length,
      unit: `of ${loops.length}`,
    },
    {
      name: 'honest commands that the guard `shell` denies',
      value: commands.filter((command) => codeOf(judged({ command })) !== 'allow').length,
      unit: `of ${commands.length.toLocaleString('en-US')}`,
    },
  ]
}
