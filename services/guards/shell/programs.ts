// The programs that the guard knows by name, and the options and variables with which a program
// runs another.

import { optionValues } from './arguments.ts'
import { Denial, notPlain, shown, unclear } from './denial.ts'
import { isPlain, list } from './field.ts'

/** They change the machine itself. */
const never = list(`fdisk sfdisk cfdisk parted wipefs mkswap swapon swapoff mount umount losetup
  cryptsetup debugfs hdparm useradd adduser usermod userdel deluser groupadd groupdel groupmod passwd
  chpasswd visudo vipw vigr chsh insmod rmmod modprobe kexec shutdown reboot halt poweroff init
  telinit newfs diskutil update-alternatives`)

/** They run another command in a way that is not visible here, or reach another process. */
const opaque = list(`su runuser pkexec doas chroot unshare nsenter parallel script expect unbuffer
  firejail bwrap fakeroot systemd-run setpriv capsh proot torsocks proxychains proxychains4 entr
  watchexec chrt taskset numactl prlimit runcon strace ltrace gdb gdbserver gcore lldb valgrind perf
  py-spy rbspy flock at batch xvfb-run dbus-run-session rlwrap eatmydata start-stop-daemon daemonize
  tmux screen ld.so ld-linux-x86-64.so.2 faketime sg newgrp machinectl run-parts bpftrace busybox
  toybox caffeinate gtimeout choom cpulimit softlimit dumb-init tini gosu su-exec sshpass autossh
  socat pwsh nu fish csh tcsh m4 vi vim nvim view ex ed emacs nano pico sudoedit killall skill
  setsid ionice watch cpio 7z 7za 7zr 7zz unrar`)

/** They bring data from the net. */
const net =
  list(`curl wget wget2 fetch http https httpie xh curlie aria2c axel lynx links w3m elinks
  nc ncat netcat telnet ftp lftp tftp sftp scp ssh rsync openssl websocat aws gsutil gcloud az s3cmd
  rclone gh glab ipfs dig drill nslookup host youtube-dl yt-dlp`)

/** Their words are data: none of them is a command that runs on this machine. */
const plain =
  list(`ls cat head tail less more wc grep egrep fgrep rg ag ack cut tr nl od strings file
  stat du df tree basename dirname realpath readlink which whereis type whatis apropos man info help
  echo printf true false test expr seq sleep date cal uname hostname whoami id groups uptime free top
  ps pgrep pidof pstree lsof ss netstat lscpu nproc env printenv diff cmp comm paste join fold fmt
  column jq md5sum sha1sum sha256sum sha512sum cksum base64 hexdump tac rev sum tsort dpkg rpm apt
  apt-get apt-cache yum dnf apk pacman brew snap pip pip3 rustup go make gmake ninja cmake ctest meson
  docker docker-compose podman kubectl helm terraform ssh dig host nslookup ping gh glab fd fdfind
  eslint prettier tsc jest vitest pytest pkill`)

export function isNet(name: string): boolean {
  return net.includes(name)
}

export function isShell(name: string): boolean {
  return /^([dz]|ba|m?k|a|rba|ya)?sh$/.test(name)
}

export function isPlainProgram(name: string): boolean {
  return plain.includes(name)
}

/** Refuses the programs that never run. */
export function checkProgram(base: string, only: ReadonlySet<string> | undefined): void {
  if (only !== undefined && !only.has(base))
    throw new Denial(
      'not-allowed',
      `${shown(base)} is not among the commands that may run`,
      `Use only: ${[...only].map(shown).join(', ').slice(0, 1_000)}.`,
    )
  checkNotWeir(base)
  if (never.includes(base) || base.startsWith('mkfs'))
    throw new Denial(
      'not-allowed',
      `${shown(base)} changes the machine itself`,
      'Leave that to a person, and say what you need.',
    )
  if (opaque.includes(base))
    throw new Denial(
      'unknowable',
      `the command that ${shown(base)} runs or changes cannot be seen from its arguments`,
      `Run the command without ${shown(base)}.`,
    )
}

/** The routes of a server of Weir on this machine, with which a call could allow itself. */
const ownServer = /\b(localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)(:\d+)?\/(v1\/approvals|console)\b/

export function checkNotServer(args: readonly string[]): void {
  if (args.some((arg) => ownServer.test(arg)))
    throw new Denial('not-allowed', 'it controls Weir itself', 'Leave that to a person.')
}

/** Whether this name, as an argument of an unknown program, may be a command that it runs. */
export function isRefused(base: string): boolean {
  return weir.test(base) || [...never, ...opaque].includes(base) || base.startsWith('mkfs')
}

const weir = /^(.*[/:])?weir(-agents)?(-\d[\w.-]*)?(@.*)?(\.([cm]?[jt]s|git|tgz))?(#.*)?$/

export function checkNotWeir(name: string): void {
  if (weir.test(name))
    throw new Denial('not-allowed', 'it controls Weir itself', 'Leave that to a person.')
}

/** `%1`, `$!`, or a number from 2: not one that is only known at run time. */
const ownTargets = /^(-l|(-(s )?[A-Z\d]+ )?(%\w*|[2-9]|[1-9]\d{1,6})( (%\w*|[2-9]|[1-9]\d{1,6}))*)$/

/** A command may stop the processes that it started, and not the one that runs it. */
export function checkSignals(base: string, args: readonly string[]): void {
  const line = args.join(' ')
  const isOwn = base === 'kill' ? ownTargets.test(line) : pattern.test(line)
  if (/^p?kill$/.test(base) && !isOwn)
    throw new Denial(
      'not-allowed',
      `${base} ${shown(args.join(' '))} may reach the process that runs it`,
      'Send signals only to processes that you started: keep $! in a variable, or name a job such as %1.',
    )
}

/** A pattern needs a run of letters that no process of Weir has. */
const pattern =
  /^(-\d+ |-[A-Z]+ )?-f (?!.*(weir|\|))(?=.*(?!node\b|bash\b|init\b|bwrap\b|tini\b|systemd\b)\b[\w-]{4,})[\w ./:-]+$/

// ── Options that name a program ──

/** The same meaning in any program: their value is a command, or a file of code. */
const anywhere =
  /^--(rsh(-command)?|(?!no-).*pager|.*shell|.*editor|.*askpass|.*compress-program|unzip-command|upload-pack|receive-pack|ext-diff|textconv|open-files-in-pager|.*ssh-command|proxy-command|rsync-path|to-command|checkpoint-action|info-script|new-volume-script|strip-program|use-askpass|browser|html|exec-path|config-env|preprocessor|hostname-bin|exec-batch|mount-program|unix-socket-command|init-command)(=|$)/

/** By program: the options that name a program or a file of settings, or hide a change. */
const own: Record<string, string> = {
  tar: '-I -F -P --rmt-command --to-command --checkpoint-action --info-script --new-volume-script --use-compress-program',
  rsync: '-e -M --rsh --rsync-path',
  ssh: '-o -F -S -E',
  scp: '-o -F -S -D',
  sftp: '-o -F -S -D -b',
  man: '-P -H -C --pager --html --config-file',
  split: '--filter',
  install: '--strip-program',
  zip: '-T --unzip-command',
  cp: '-s -l --link --symbolic-link',
  sort: '--compress-program',
  curl: '-K --config --unix-socket --abstract-unix-socket --ssl-sessions',
  wget: '-e --execute --config --use-askpass',
  make: '--eval -E',
  gmake: '--eval -E',
  rg: '--pre --hostname-bin',
  fd: '-x -X --exec --exec-batch',
  fdfind: '-x -X --exec --exec-batch',
  go: '-exec -toolexec -vettool',
  less: '-k --lesskey-file --lesskey-src',
  gpg: '--photo-viewer --exec',
  nc: '-e -c --exec --sh-exec --lua-exec',
  ncat: '-e -c --exec --sh-exec --lua-exec',
  openssl: '-engine -provider',
  gcc: '-wrapper -fplugin -specs',
  'g++': '-wrapper -fplugin -specs',
  cc: '-wrapper -fplugin -specs',
  clang: '-fplugin',
  deno: '-e -p --eval --print',
  bun: '-e -p --eval --print',
}

/** A plain remote shell, and plain settings of ssh, start no other program. */
const plainValue =
  /^ssh( -(p|i|l) ?[\w./~-]+| -q| -T| -x)*$|^(StrictHostKeyChecking|ConnectTimeout|BatchMode|LogLevel|Port|User|ServerAlive\w+|UserKnownHostsFile)[= ][\w./]+$/i

/** By program: other arguments that name a program or an output. */
const arguing = new Map([
  ['curl', /%output\{|^@/],
  ['make', /^(SHELL|\.SHELLFLAGS|MAKEFLAGS)\W?=|=.*\$\(/],
  ['gmake', /^(SHELL|\.SHELLFLAGS|MAKEFLAGS)\W?=|=.*\$\(/],
])

/** Refuses an option that makes a program run another one. */
export function checkOptions(base: string, args: readonly string[]): void {
  const key = /^-?(?=.*f)[xctruzvjJfpkAPIFC]+$/.test(args[0] ?? '') ? `-${args[0]}` : args[0]
  const all = base === 'tar' && key !== undefined ? [key, ...args.slice(1)] : args
  const started =
    /^(less|more|most)$/.test(base) && args.find((arg) => /^\+(?![\dG]*$|\/[\w ]+!?$)/.test(arg))
  const odd = started || all.find((arg) => anywhere.test(arg))
  if (odd) throw unclear(base, odd)
  for (const name of list(own[base] ?? ''))
    for (const value of optionValues(all, name))
      if (!/^(ssh|scp|sftp|rsync)$/.test(base) || !plainValue.test(value)) throw unclear(base, name)
  if (/^(deno|bun)$/.test(base) && args.some((arg) => arg === 'eval' || arg.includes('://')))
    throw unclear(base, args.join(' '))
  const naming = args.find((arg) => arguing.get(base)?.test(arg))
  if (naming !== undefined) throw unclear(base, naming)
}

/** By program: the options that name a file of commands, or its folder. */
const makers = /^(g?make|ninja|cmake|just|rake)$/
const streams = /^(g?sed|[gmn]?awk)$/

/** The files of commands that these arguments name. */
export function scriptsOf(base: string, args: readonly string[]): string[] {
  const names = '-f -C -P --file --makefile --directory --justfile --rakefile'
  if (streams.test(base)) return optionValues(args, '-f --file')
  return makers.test(base) ? optionValues(args, names) : []
}

/** Whether these arguments fetch files whose names are not among them. */
export function fetchesUnnamed(base: string, args: readonly string[]): boolean {
  const line = args.join(' ')
  if (base === 'git') return /^(-\S+ )*clone /.test(line)
  if (base === 'curl') return /(^| )-\w*J|--remote-header-name/.test(line)
  return base === 'wget' && /(^| )-\w*[irm]|--(input|recursive|mirror|content-disp)/.test(line)
}

/** Refuses a package that is fetched and run at once. */
export function checkPackage(base: string, args: readonly string[]): void {
  const runs = /^(npx|bunx|pnpx|uvx|pipx)$/.test(base) || (base === 'uv' && args[0] === 'run')
  const found = runs && args.find((arg) => arg.includes('://'))
  if (found)
    throw new Denial(
      'net-into-shell',
      `${base} would run ${shown(found)} from the net`,
      'Fetch it in a call of its own and read it. Then run it in another call.',
    )
}

// ── Variables that name a program, and texts that Bash reads twice ──

/** A command in a text that Bash reads a second time, even if quotes protected it at first. */
const command = /\$\(|`|\$\{/

export function checkReadTwice(text: string, what: string): void {
  if (!command.test(text)) return
  throw new Denial(
    'unseen-script',
    `${what} may read "${shown(text)}" a second time and run the command in it`,
    'Run the command where it stands, assign its output to a variable, and use a plain name or number here.',
  )
}

const naming =
  /^(LD_\w+|DYLD_\w+|\w*(PAGER|EDITOR|VISUAL|ASKPASS|BROWSER|_SSH|_COMMAND|_WRAPPER|_RSH)|LESS\w*|MORE|PERL5OPT|RUBYOPT|PYTHONSTARTUP|NODE_OPTIONS|GCONV_PATH|JAVA_TOOL_OPTIONS|GIT_(?!AUTHOR|COMMITTER|TERMINAL)\w+|TAR_OPTIONS|MAKEFLAGS|MAKEFILES|SHELL|BASH_ENV|PS4|CDPATH|TMPDIR)$/
const harmless =
  /^(:|cat|less|true|false|vi|vim|nano|[sc]cache|\d+|-[Rj]\d*|--(max-old-space-size=\d+|no-warnings|trace-warnings|enable-source-maps|experimental-vm-modules))$/

/** Refuses a variable that names something that runs, or a place of files. */
export function checkSetting(name: string, text: string, user = ''): void {
  checkReadTwice(text, name)
  const isRead = !(/^(CDPATH|TMPDIR)$/.test(name) && isPlainProgram(user)) && naming.test(name)
  if (isRead && !(isPlain(text) && list(text).every((word) => harmless.test(word))))
    throw notPlain(
      `${name} names something that runs later, or a place of files`,
      'Do not set it. Write the commands and paths where they are used.',
    )
}
