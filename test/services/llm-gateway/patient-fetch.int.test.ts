// In processes of their own: the test runner's global object is not the one in which Node keeps its HTTP client.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

const module = fileURLToPath(new URL('../../../services/llm-gateway/patient-fetch.ts', import.meta.url))

/** A server at `url` that says nothing until `answer()`, and then says `at last`. */
const silentServer = `
  import { createServer } from 'node:http'
  const { promise: told, resolve: answer } = Promise.withResolvers()
  const server = createServer((_, response) => void told.then(() => response.end('at last')))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = 'http://127.0.0.1:' + server.address().port
  const end = () => { server.closeAllConnections(); server.close() }
`

/** What the script prints, line by line. */
async function printedBy(script: string): Promise<string[]> {
  const source = `import { fetchThatWaits, patientFetch } from ${JSON.stringify(module)}\n${script}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source])
  return stdout.trim().split('\n')
}

it('waits as long as it is told, and the one for providers longer', async () => {
  const printed = await printedBy(`${silentServer}
    const patient = patientFetch(url)
    // The deadline is kept, so the option is understood; by then the other request has waited longer than that.
    await fetchThatWaits(100)(url).catch((error) => console.log(error.cause.code))
    answer()
    console.log(await (await patient).text())
    end()`)
  expect(printed).toEqual(['UND_ERR_HEADERS_TIMEOUT', 'at last'])
})

it('still ends when a signal says that nobody wants the answer any more', async () => {
  const printed = await printedBy(`${silentServer}
    const stop = new AbortController()
    const waiting = patientFetch(url, { signal: stop.signal })
    stop.abort()
    await waiting.catch((error) => console.log(error.name))
    end()`)
  expect(printed).toEqual(['AbortError'])
})

it('does as Node does where a program uses a dispatcher that cannot be made again, such as one of a proxy', async () => {
  const printed = await printedBy(`
    class OfAProxy { constructor({ uri }) { if (uri === undefined) throw new Error('a proxy has an address') } }
    const symbol = Symbol.for('undici.globalDispatcher.1')
    for (const value of [new OfAProxy({ uri: 'http://proxy' }), undefined, null]) {
      Object.defineProperty(globalThis, symbol, { configurable: true, value })
      console.log(fetchThatWaits(0) === globalThis.fetch)
    }`)
  expect(printed).toEqual(['true', 'true', 'true'])
})
