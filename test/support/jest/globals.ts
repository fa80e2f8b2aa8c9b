// The module that tests import as `@jest/globals`: the functions of the runner, with two promises that
// it does not make. A test or hook that hangs fails after its time limit. Changes of the
// environment, the folder and the spies of a process end with the file that made them.

import { inspect } from 'node:util'
import { limitText, patience } from '../wait-limit.ts'

type Runnable = (...args: unknown[]) => unknown
type Registering = Runnable & Record<string, unknown>
type Runner = {
  expect: { getState(): { testPath?: string; currentTestName?: string } }
  jest: Record<string, unknown> & { restoreAllMocks(): void }
} & Record<Name, Registering>
type Name = 'describe' | 'it' | 'test' | 'beforeAll' | 'afterAll' | 'beforeEach' | 'afterEach'

/**
 * A limit against hangs, not a measure of speed: on an overloaded machine a second can become half a
 * minute.
 */
const usualLimitMs = 120_000

/** As stacks print it. */
const root = new URL('../../../', import.meta.url).href

const runner = globalThis as unknown as Runner
let file: string | undefined
let fileLimitMs = usualLimitMs

/** Before the first test, hook or group of a file is registered. */
function beginFile(): void {
  const { testPath } = runner.expect.getState()
  if (testPath === file) return
  file = testPath
  fileLimitMs = usualLimitMs
  const env = { ...process.env }
  const folder = process.cwd()
  runner.afterAll(() => {
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
    Object.assign(process.env, env)
    process.chdir(folder)
    runner.jest.restoreAllMocks()
  })
}

/** The function, which fails if it takes longer. The limit grows with the load of the machine. */
function limited(run: Runnable, limitMs: number): Runnable {
  const withLimit = async (...args: unknown[]): Promise<void> => {
    const begun = performance.now()
    let timer: NodeJS.Timeout | undefined
    const hangs = new Promise<never>((_, reject) => {
      const look = () => {
        const leftMs = limitMs * patience() - (performance.now() - begun)
        if (leftMs > 0) timer = setTimeout(look, leftMs)
        else reject(new Error(`${limitText} ${limitMs} ms.`))
      }
      timer = setTimeout(look, limitMs)
    })
    try {
      await Promise.race([run(...args), hangs])
    } catch (error) {
      throw readable(error)
    } finally {
      clearTimeout(timer)
    }
  }
  return Object.defineProperty(withLimit, 'length', { value: run.length })
}

/**
 * The runner prints the stack only. So the stack names the causes, has paths to click on, and no line of
 * Node or of this file.
 */
function readable(thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error(`thrown: ${inspect(thrown)}`)
  const causes: string[] = []
  for (let { cause } = error; cause !== undefined && causes.length < 5; ) {
    causes.push(`caused by: ${cause instanceof Error ? cause.stack : inspect(cause)}`)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  const stack = [error.stack ?? `${error}`, ...causes]
    .join('\n')
    .split('\n')
    .filter((line) => !/^\s+at .*(node:|node_modules\/tinypool|test\/support\/jest\/)/.test(line))
    .join('\n')
    .replaceAll(root, '')
    .replaceAll(/(\.test\.ts)\?\d+:/g, '$1:')
  return Object.defineProperty(error, 'stack', { value: stack })
}

/** A function that registers tests or hooks, with its variants `only`, `skip` and `each`. */
function registering(register: Registering, isGroup: boolean): Registering {
  return new Proxy(register, {
    apply(target, self, given: unknown[]) {
      beginFile()
      const limitMs = given.find((value) => typeof value === 'number') ?? fileLimitMs
      const args = given.map((value) =>
        typeof value === 'function' && !isGroup ? limited(value as Runnable, limitMs) : value,
      )
      const result = Reflect.apply(target, self, args)
      return typeof result === 'function' ? registering(result as Registering, isGroup) : result
    },
    get(target, key) {
      const value = Reflect.get(target, key)
      return typeof value === 'function' ? registering(value as Registering, isGroup) : value
    },
  })
}

export const { expect } = runner
export const describe = registering(runner.describe, true)
export const it = registering(runner.it, false)
export const test = it
export const beforeAll = registering(runner.beforeAll, false)
export const afterAll = registering(runner.afterAll, false)
export const beforeEach = registering(runner.beforeEach, false)
export const afterEach = registering(runner.afterEach, false)
export const jest = {
  ...runner.jest,
  setTimeout(ms: number): void {
    beginFile()
    fileLimitMs = ms
  },
}
