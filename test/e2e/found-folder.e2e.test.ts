// A checkout with a data folder of somebody else, as its user meets it: each state folder is a user.

import { afterEach, describe, expect, it } from '@jest/globals'
import { says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
afterEach(() => commands.close())

describe('a data folder that another user made and left in the working folder', () => {
  it('starts no model request and no server, can be read, and is used once it is named', async () => {
    const reply = () => says(text('Hello.'))
    commands = await openCommandFolder(script(reply(), reply(), reply(), reply()))
    const as = (user: string) => ({ environment: { XDG_STATE_HOME: `${commands.folder}/${user}` } })
    const ask = ['ask', '--agent', 'agent.yaml', '--conversation', 'c']
    const here = as('ann')
    expect(await commands.run([...ask, '--data-folder', 'own', 'hi'], here)).toMatchObject({
      code: 0,
    })
    expect(await commands.run([...ask, 'hi'], as('mallory'))).toMatchObject({ code: 0 })
    const requests = commands.server.requests.length
    const refused = {
      code: 1,
      errors: expect.stringContaining('name it once with --data-folder .weir'),
    }
    expect(await commands.run([...ask, 'go on'], here)).toMatchObject(refused)
    for (const writer of [['serve', '--http-port', '0'], ['up']])
      expect(await commands.run([...writer, '--agents', 'agent.yaml'], here)).toMatchObject(refused)
    expect(commands.server.requests).toHaveLength(requests)
    expect((await commands.run(['inspect', 'c'], here)).out).toContain('Hello.')
    expect(await commands.run(['doctor'], here)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^wrong +owner +the data folder \.weir was only found here/m),
    })
    const named = await commands.run([...ask, '--data-folder', '.weir', 'go on'], here)
    expect(named).toMatchObject({ code: 0, out: expect.stringContaining('Hello.') })
    expect(await commands.run([...ask, 'again'], here)).toMatchObject({ code: 0 })
  })
})
