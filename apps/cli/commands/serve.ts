// weir serve: the HTTP edge. weir api-keys: the keys of its clients.

import { type Command, Option } from 'commander'
import { type SettingKey, settingKeys } from '../../../shared/settings/settings.ts'
import { endWith } from '../../terminal/text/ending.ts'
import { listed, once, settingsOf, whichBus, withSettings } from './flags.ts'

/** The flags of the edge, for `weir serve` and `weir up`. */
export function withEdge(command: Command): Command {
  return command
    .option('--http-host <address>', 'the address of that port; default: 127.0.0.1')
    .option('--api-keys <file>', 'the API keys of clients, from weir api-keys create')
    .option('--keyless', 'let each program of this machine use the server without a key')
    .option('--oidc-issuer <url>', 'the issuer of the tokens of clients')
    .option('--oidc-audience <name>', 'the audience that a token must have')
    .option('--oidc-jwks <url>', "the URL of the issuer's keys")
    .option('--oidc-tenant-claim <name>', 'the claim with the tenant; default: tenant')
    .option('--oidc-roles-claim <name>', 'the claim with the roles; default: roles')
    .option('--oidc-all-tenants', "let a token with the tenant '*' reach all tenants")
    .option('--oidc-client-id <id>', 'let people log in to the console: the client at the issuer')
    .option('--oidc-client-secret-file <file>', 'its secret; default: a public client')
    .option(
      '--oidc-console-url <url>',
      'the address of the console for browsers; the issuer leads back to URL/login/callback',
    )
    .option('--oidc-scope <scopes>', 'the scopes of the login; default: openid')
    .option('--tls-cert <file>', 'serve HTTPS with this certificate, in PEM')
    .option('--tls-key <file>', 'the key of that certificate, in PEM')
    .option(
      '--tls-client-ca <file>',
      'accept client certificates of this authority, in PEM; --api-keys has their subjects',
    )
    .option(
      '--cors-origin <origin>',
      'let pages of this origin call the server; repeat for more',
      listed,
    )
    .option('--requests-per-minute <number>', 'of each client; default: 6000')
    .option('--webhook-url <url>', 'send events about approvals and soft budgets to this address')
    .option('--webhook-secret-file <file>', 'the secret that signs them: base64, whsec_...')
}

export function addServe(program: Command): void {
  const serve = program
    .command('serve')
    .argument('[agents]', 'a module that exports agents, or as --agents')
  withEdge(
    withSettings(serve, settingKeys).option(
      '--http-port <port>',
      'the port to listen on; 0: any free port',
      '4140',
    ),
  )
    .option('--json', 'print {"url", "port"} as the first line')
    .action(async (agents, options) =>
      endWith(
        await (await import('../../http/serve/serve.ts')).serve(agents, options, process.stdout),
      ),
    )
}

/** The settings that find the log, for the evidence of a change. */
const logOfEvidence: SettingKey[] = [...whichBus, 'topicPrefix']

const command = () => import('../../http/edge/access/api-keys-command.ts')

export function addApiKeys(program: Command): void {
  const keys = program.command('api-keys')
  const change = (name: string) =>
    withSettings(keys.command(name), logOfEvidence)
      .argument('<name>', 'the name of the client; decisions about calls carry it')
      .requiredOption('--file <file>', 'the file of keys', once)
      .option('--by <name>', 'your name, for weir audit; default: your user', once)
  const withEnd = (of: Command) =>
    of.option(
      '--expires <end>',
      'the end of the key: a duration such as 90d, a time, or never; default: never',
      once,
    )

  withEnd(change('create'))
    .description(
      "Add an API key to the file and print the key. The file has only a hash. With --subject: add a client certificate's subject.",
    )
    .option('--tenant <name>', 'the tenant of its conversations')
    .option('--all-tenants', 'let the key reach the conversations of all tenants')
    .addOption(
      new Option('--role <role>', 'ask, decide, operate, read or unredacted; repeat for more')
        .argParser(listed)
        .makeOptionMandatory(),
    )
    .option(
      '--subject <name>',
      'no key: the subject of the client certificate, such as O=Acme,CN=ci',
    )
    .option('--cancel-on-disconnect', 'cancel a turn when its client disconnects')
    .action(async (name, options) =>
      (await command()).createKey(name, options, await settingsOf(options)),
    )

  keys
    .command('list')
    .description(
      'List the API keys: name, tenant, roles, created, last used, expires. Running servers write the last use once a minute.',
    )
    .requiredOption('--file <file>', 'the file of keys', once)
    .option('--json', 'print one JSON object per line')
    .action(async (options) => (await command()).listKeys(options, process.stdout))

  withEnd(change('rotate'))
    .description(
      "Replace a client's API key and print the new key. The old key counts until the overlap ends.",
    )
    .requiredOption(
      '--overlap <duration>',
      'how long the old key counts, such as 24h; 0s: it ends now',
      once,
    )
    .action(async (name, options) =>
      (await command()).rotateKey(name, options, await settingsOf(options)),
    )

  change('remove')
    .description('Remove an API key. Running servers refuse the key from the next request on.')
    .action(async (name, options) =>
      (await command()).removeKey(name, options, () => settingsOf(options)),
    )
}
