// weir proxy: guard the agents that call a model through it.

import type { Command } from 'commander'
import { endWith } from '../../terminal/text/ending.ts'
import { ownStages, withSettings } from './flags.ts'

export function addProxy(program: Command): void {
  withSettings(program.command('proxy'), ownStages)
    .requiredOption('--upstream <url>', "the model provider's base URL, with or without /v1")
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option(
      '--allow-remote',
      'listen also where other machines can connect; the server asks for no key',
    )
    .option('--port <port>', 'the port of that address; 0: any free port', '4141')
    .option(
      '--agent <name>',
      'the guest at the root: its name, with settings in NAME.yaml of the folder WEIR_AGENTS if there are any; others are under /proxy/NAME',
      'guest',
    )
    .option(
      '--veto',
      'hold the calls of each answer until their verdicts; Weir asks the model again itself when it refuses one',
    )
    .option('--veto-oauth', "with --veto: hold also requests that a person's subscription pays")
    .option(
      '--sign-aws <region>',
      'sign requests to Amazon Bedrock in this region, with the AWS credentials of this process',
    )
    .option(
      '--sign-aws-host <host>',
      'with --sign-aws: sign also for this host of --upstream, which has no name of Bedrock',
    )
    .option('--json', 'print {"port", "anthropicBaseUrl", "openaiBaseUrl"} as the first line')
    .action(async (options) =>
      endWith(
        await (await import('../../http/serve-proxy.ts')).serveProxy(options, process.stdout),
      ),
    )
}
