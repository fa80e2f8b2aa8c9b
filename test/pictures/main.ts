// Draws the pictures of the guides again: node test/pictures/main.ts. Needs Chromium. Look at each picture
// before you commit it.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { report } from '../../apps/report/report.ts'
import { always, call, says } from '../../client/testing/testing.ts'
import { defineTool, type Guard } from '../../client/weir.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { type ConsoleServer, consoleServer } from '../apps/http/console/console-server.ts'
import { findChromium } from '../support/chromium.ts'

const docs = join(import.meta.dirname, '../../docs')

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys a version.',
  parameters: { type: 'object', properties: { env: { type: 'string' } }, required: ['env'] },
  run: () => 'The version runs.',
})
const exec = defineTool({
  name: 'exec',
  description: 'Runs a command.',
  parameters: {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
  },
  async run(input) {
    await sleep(300)
    const { command } = input as { command: string }
    if (command.includes('rollout')) throw new Error('timed out waiting for the condition')
    return `${command}: api 3/3 running`
  },
})

/** In shadow: it would deny some of the commands. */
const paths: Guard = {
  name: 'paths',
  version: '1.2.0',
  tools: ['*'],
  deadlineMs: 2_000,
  onTimeout: 'deny',
  judge: (_state, { calls }) => ({
    state: undefined,
    verdicts: calls.map(({ ordinal, rawArguments }) =>
      rawArguments.includes('pod')
        ? { ordinal, verdict: 'deny', code: 'pods', text: 'Do not read pods.' }
        : { ordinal, verdict: 'allow' },
    ),
  }),
}

const commands = [
  'kubectl get pods -n staging',
  'kubectl rollout status deploy/api -n staging',
  'kubectl get events -n staging',
  'kubectl describe pod api -n staging',
]

/** Looks four times, then repeats a call without its argument until it may call no more. */
const model = always(({ texts, results, newResults, mayCall }) => {
  const [env] = texts.flatMap((text) => /^Deploy to (\w+)/.exec(text)?.[1] ?? [])
  if (env !== undefined)
    return newResults.length > 0
      ? says('It is deployed.')
      : says(
          'All checks passed, so I deploy it.',
          call('deploy', { env, version: '1.4.2', ...(env === 'prod' && { replicas: 3 }) }),
        )
  if (!mayCall) return says('I could not finish this.')
  const command = commands[results.length]
  return says('I look.', call('exec', command === undefined ? {} : { command }))
})

const program = findChromium()
if (program === undefined) throw new Error('this machine has no Chromium (CHROMIUM names one)')
await using server = await consoleServer([model], {
  tools: [deploy, exec],
  approvals: { rules: [{ name: 'release', tools: ['deploy'] }] },
  guards: { guards: [paths], mode: 'shadow' },
})
await fill(server)
await using browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })

await picture(browser, {
  file: 'operate/console.png',
  url: `${server.url}/console#/approvals`,
  width: 1440,
  height: 660,
})
await picture(browser, {
  file: 'operate/console-guards.png',
  url: `${server.url}/console#/guards`,
  width: 1440,
  height: 1120,
  async prepare(page) {
    await page.waitForSelector('input[type=range]')
    await page.focus('input[type=range]')
    await page.keyboard.press('ArrowLeft')
    await page.waitForSelector('text=With loop.identicalFailures at 2')
    await page.evaluate(`scrollTo(0, document.querySelector('[data-guard=paths]').offsetTop - 70)`)
  },
})
await picture(browser, {
  file: 'operate/console-phone.png',
  url: `${server.url}/console#/now`,
  width: 390,
  height: 844,
  colorScheme: 'dark',
})
const reportFile = join(server.folder, 'report.html')
await report(
  {
    settings: readSettings({ dataFolder: server.folder }, {}),
    bundle: undefined,
    options: { conversation: 'deploy-4711' as ConversationId, output: reportFile },
  },
  process.stdout,
)
await picture(browser, {
  file: 'explain/weir-report.png',
  url: pathToFileURL(reportFile).href,
  width: 1200,
  height: 820,
})

/** Loops, an allowed call, and a call that waits. */
async function fill({ weir }: ConsoleServer): Promise<void> {
  const text = 'Please roll the new API image out to staging, and check that it is healthy.'
  for (const conversation of ['deploy-4711', 'order-1', 'order-2', 'order-3'])
    await weir.ask({ agent: 'helper', conversation, text }).finished
  const first = weir.ask({ agent: 'helper', conversation: 'release-9', text: 'Deploy to test.' })
  for await (const event of first)
    if (event.type === 'approval-pending')
      for (const { id } of event.calls) await weir.allow(id, { by: 'ann' })
  const waiting = weir.ask({ agent: 'helper', conversation: 'release-10', text: 'Deploy to prod.' })
  for await (const event of waiting) if (event.type === 'approval-pending') break
}

type Picture = {
  /** Below docs/. */
  file: string
  url: string
  width: number
  height: number
  colorScheme?: 'light' | 'dark'
  prepare?: (page: Page) => Promise<void>
}

async function picture(
  from: Browser,
  { file, url, width, height, colorScheme = 'light', prepare }: Picture,
): Promise<void> {
  await using context = await from.newContext({ viewport: { width, height }, colorScheme })
  const page = await context.newPage()
  await page.goto(url)
  await page.waitForSelector('h1')
  await sleep(1_500) // the first poll of each part
  await prepare?.(page)
  await writeFile(join(docs, file), await page.screenshot())
}
