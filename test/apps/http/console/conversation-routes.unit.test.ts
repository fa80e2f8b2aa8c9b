// The routes of the console for one conversation, without a server.

import { truncateSync, writeFileSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import {
  consoleExportBytesMax,
  conversationApi,
} from '../../../../apps/http/console/conversation-routes.ts'
import { HttpError } from '../../../../apps/http/http-error.ts'

it('refuses a bundle that is too large for memory, and names the command that writes it', async () => {
  const conversation = {
    async export(file: string) {
      writeFileSync(file, '')
      truncateSync(file, consoleExportBytesMax + 1)
    },
  }
  const edge = { principalOf: () => ({}), weirOf: () => ({ conversation: () => conversation }) }
  const app = conversationApi(edge as never, {} as never, '')
  let refused: unknown
  app.onError((error, http) => {
    refused = error
    return http.text('', 500)
  })
  await app.request('/export?id=c')
  expect(refused).toBeInstanceOf(HttpError)
  expect(refused).toMatchObject({ status: 413, message: expect.stringContaining('weir export') })
})
