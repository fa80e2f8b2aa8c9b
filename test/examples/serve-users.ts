import { createServer } from 'node:http'
import { Weir } from '../../client/weir.ts'
import { agent } from './serve-agent.ts'

const weir = await Weir.open({ agents: [agent] })
const handler = weir.http({
  async principal({ headers }) {
    const user = await userOf(headers.get('cookie'))
    return user === undefined ? undefined : { name: user, tenant: user, context: { user } }
  },
})
createServer(handler.node).listen(3000, '127.0.0.1')

/** Put the sign-in of your site here. Undefined: nobody has signed in. */
async function userOf(cookie: string | null): Promise<string | undefined> {
  const sessions = new Map([['session=secret-of-ada', 'ada']])
  return sessions.get(cookie ?? '')
}
