// An example program that runs outside of the checkout.

import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { weirCommand } from './programs.ts'

/** The program as it runs in any folder: with the packages and, by default, the made code of this checkout. */
export function anywhere(program: string, code: 'made' | 'sources' = 'made'): string {
  const fileOf = (module: string) =>
    code === 'made'
      ? pathToFileURL(join(dirname(weirCommand), 'dist', `${module}.js`))
      : new URL(`../../${module}.ts`, import.meta.url)
  const packages = ['zod', 'express', 'hono', '@hono/node-server']
  return packages.reduce(
    (text, name) => text.replaceAll(`'${name}'`, `'${import.meta.resolve(name)}'`),
    program
      .replaceAll(`'../../client/weir.ts'`, `'${fileOf('client/weir')}'`)
      .replaceAll(`'../../client/testing/testing.ts'`, `'${fileOf('client/testing/testing')}'`),
  )
}
