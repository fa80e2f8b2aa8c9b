// Makes the kept bundles again: `node test/bundles/make.ts` with the Node of the checkout. Each is a
// real run of an incident, over real HTTP to a scripted model, with real processes as tools,
// exported as a user would. See docs/internals/records.md#bundles for when to do it.

import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reflexModel } from '../../apps/demo/reflex-model.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { execTool, type PipelineOptions, recordedTool, withPipeline } from '../support/pipeline.ts'
import { always, call, says } from '../support/script.ts'

type Incident = { name: string; message: string; options: PipelineOptions }

const incidents: Incident[] = [
  { name: 'i1-reflex-loop', message: 'list my files', options: { model: reflexModel('stubborn') } },
  {
    name: 'i3-no-termination',
    message: 'what is the past tense of eat?',
    options: {
      model: always(() => says(call('lookup', { word: 'eat', answer: 'ate' }))),
      tools: (file) => [recordedTool({ name: 'lookup', required: ['word'] }, file)],
    },
  },
  {
    name: 'i5-broken-schema',
    message: 'list my files',
    options: { model: always(() => says(call('exec', { cmd: 'ls' }))), tools: execTool },
  },
]

const weir = fileURLToPath(new URL('../../bin/weir', import.meta.url))

for (const { name, message, options } of incidents) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bundle-'))
  const openBus = () =>
    openEmbeddedBus({ file: join(folder, '.weir', 'weir.db'), clock: systemClock })
  await withPipeline({ ...options, openBus }, async ({ ask }) => {
    const { finished } = await ask(message, { conversation: name })
    console.log(`${name}: ${finished.outcome}, ${finished.totals.rounds} rounds`)
  })
  const file = fileURLToPath(new URL(`${name}.weir`, import.meta.url))
  execFileSync(weir, ['export', '--conversation', name, '--force', '-o', file], {
    cwd: folder,
    stdio: 'inherit',
  })
  await rm(folder, { recursive: true })
}
