// weir mcp: a gateway between a host and its MCP servers, and commands about the servers of agents.

import { type Command, Option } from 'commander'
import { endWith } from '../../terminal/text/ending.ts'
import { listed, ownStages, withSettings } from './flags.ts'

export function addMcp(program: Command): void {
  const mcp = withSettings(program.command('mcp').enablePositionalOptions(), ownStages)
    .argument('[command...]', 'the server and its arguments, after --')
    .option('--servers <file>', 'several servers: a file with mcpServers, as hosts write it')
    .option(
      '--agent <name>',
      'the guest: its name, with settings in NAME.yaml of the folder WEIR_AGENTS if there are any',
    )
    .option(
      '--env <name>',
      'a variable that the server sees in addition to PATH; repeat for more',
      listed,
    )
    .option(
      '--start-ms <milliseconds>',
      'the time that the server has to start and to connect; default: 60000',
    )
    .addOption(
      new Option(
        '--concealed <mode>',
        'clean: remove concealed text from messages of the server (default); refuse: give an error in their place',
      ).choices(['clean', 'refuse']),
    )
    .addOption(
      new Option(
        '--pin <mode>',
        'hold a tool that changed after its first use, until weir mcp approve; needs --data-folder; default: on if there is one',
      ).choices(['on', 'off']),
    )
    .option(
      '--http-port <port>',
      'serve streamable HTTP at /mcp/AGENT/CONVERSATION instead of standard input; 0: any free port',
    )
    .option('--host <address>', 'with --http-port: the address to listen on')
    .option(
      '--allow-remote',
      'with --http-port: listen also where other machines can connect; the server asks for no key',
    )
    .option('--json', 'with --http-port: print {"port", "url"} as the first line')
    .action(async (command, options) =>
      endWith(
        await (await import('../../http/serve-mcp.ts')).serveMcp(command, options, process.stdout),
      ),
    )

  withSettings(mcp.command('login'), ['agents'])
    .description(
      'Log in at an MCP server in the browser (OAuth), and write the login to auth.tokenFile. Weir renews the login.',
    )
    .argument('<name>', 'the server, as agent files or the file of servers name it')
    .option('--servers <file>', 'the file of servers, in place of agent files')
    .option('--client-id <id>', 'the client, if the server does not register clients itself')
    .option('--client-secret <variable>', 'the variable with the secret of that client')
    .option('--scope <scopes>', 'the scopes; default: those that the server names')
    .option('--callback-port <port>', 'the port for the answer of the browser; default: any')
    .action(async (name, options) =>
      endWith(
        await (await import('../../service/mcp/login.ts')).mcpLogin(name, options, process.stdout),
      ),
    )

  withSettings(mcp.command('approve'), ['dataFolder'])
    .description(
      'Show MCP tools that changed after their first use, or pin the changes with these ids.',
    )
    .argument('[ids...]', 'ids of changes, as the list shows them')
    .action(async (ids, options) =>
      endWith(
        (await import('../../service/mcp/approve.ts')).approveTools(ids, options, process.stdout),
      ),
    )

  withSettings(mcp.command('tools'), ['agents', 'logLevel'])
    .description(
      "Write MCP servers' tools into the files that agent files name as toolsFile, for processes that cannot reach the servers.",
    )
    .action(async (options) =>
      endWith(
        await (await import('../../service/mcp/write-tools.ts')).writeTools(
          options,
          process.stdout,
        ),
      ),
    )
}
