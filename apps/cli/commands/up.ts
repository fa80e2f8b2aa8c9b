// weir up: run the stages.

import type { Command } from 'commander'
import { settingKeys } from '../../../shared/settings/settings.ts'
import { endWith } from '../../terminal/text/ending.ts'
import { guardModeOption, listed, runImportedFlag, withSettings } from './flags.ts'
import { withEdge } from './serve.ts'

export function addUp(program: Command): void {
  const up = withSettings(program.command('up'), settingKeys)
    .option('--stages <names>', 'the stages to run, separated by commas; default: all')
    .option(
      '--guards <folder>',
      'also run the guards in this folder in this process: each module is one guard',
    )
    .option(
      '--guard <guard>',
      'also run this guard, a file or a name, with =OPTIONS as for weir ask; repeat for more',
      listed,
    )
    .addOption(guardModeOption())
    .option(...runImportedFlag)
    .option(
      '--metrics-endpoint <url>',
      'also send the metrics of --health-port every 10 seconds to this backend of OpenTelemetry, such as http://localhost:4318; OTEL_EXPORTER_OTLP_HEADERS, _PROTOCOL and OTEL_SERVICE_NAME count as for weir traces',
    )
    .option(
      '--front-port <port>',
      'also serve guests on this port, as weir proxy does: hooks, /v1/guest, and the proxy with --upstream; 0: any free port',
    )
    .option('--front-host <address>', 'the address of that port; default: 127.0.0.1')
    .option(
      '--allow-remote',
      'let --front-host be an address that other machines reach; the server asks for no key',
    )
    .option('--upstream <url>', "the model provider's base URL for the proxy, with or without /v1")
    .option(
      '--mcp <file>',
      'also serve the MCP servers of this file at /mcp/AGENT/CONVERSATION, on the front port or on an edge without --api-keys',
    )
    .option(
      '--front-idle-hours <hours>',
      'end after so many hours without a request to the front port, or if another process owns the data folder; default: never',
    )
    .option('--front-agent <name>', 'the guest at the root of the proxy; default: guest')
    .option(
      '--http-port <port>',
      'also serve agents over HTTP on this port, as weir serve does; without --api-keys and an issuer also guests, as --front-port does',
    )
  withEdge(up).action(async (options) =>
    endWith(await (await import('../../http/up-with-fronts.ts')).upWithFronts(options)),
  )
}
