// The programs that the guard knows by name, and the options with which a program runs another.

import { optionValues } from './command-line.ts'
import { isUnknown, list } from './field.ts'
import { Refusal, shown } from './refusal.ts'

/** They change the machine itself, or Weir. */
const never = list(`fdisk sfdisk cfdisk parted wipefs mkswap swapon swapoff mount umount losetup
  cryptsetup debugfs hdparm useradd adduser usermod userdel deluser groupadd groupdel groupmod passwd
  chpasswd visudo vipw vigr chsh insmod rmmod modprobe kexec shutdown reboot halt poweroff init
  telinit newfs diskutil update-alternatives`)

/** They run another command in a way that is not visible here, or read another process. */
const opaque = list(`su runuser pkexec doas chroot unshare nsenter parallel script expect unbuffer
  firejail bwrap fakeroot systemd-run setpriv capsh proot torsocks proxychains proxychains4 entr
  watchexec chrt taskset numactl prlimit runcon strace ltrace gdb gdbserver gcore lldb valgrind perf
  py-spy rbspy flock at batch xvfb-run dbus-run-session rlwrap eatmydata start-stop-daemon daemonize
  tmux screen ld.so ld-linux-x86-64.so.2 faketime sg newgrp machinectl run-parts bpftrace busybox
  toybox caffeinate gtimeout choom cpulimit softlimit dumb-init tini gosu su-exec sshpass autossh
  socat pwsh nu fish csh tcsh m4 vi vim nvim view ex ed emacs nano pico sudoedit
  cpio 7z 7za 7zr 7zz unrar`)

const shells = list('sh bash dash zsh ksh mksh ash rbash yash')

const net =
  list(`curl wget wget2 fetch http https httpie xh curlie aria2c axel lynx links w3m elinks
  nc ncat netcat socat telnet ftp lftp tftp sftp scp ssh rsync openssl websocat aws gsutil gcloud az
  s3cmd rclone gh glab ipfs dig drill nslookup host youtube-dl yt-dlp`)

/** Their words are data: none of them is a command that runs on this machine. */
const plain =
  list(`ls cat head tail less more wc grep egrep fgrep rg ag ack cut tr nl od strings file
  stat du df tree basename dirname realpath readlink which whereis type whatis apropos man info help
  echo printf true false test expr seq sleep date cal uname hostname whoami id groups uptime free top
  ps pgrep pstree lsof ss netstat lscpu nproc env printenv diff cmp comm paste join fold fmt column jq
  md5sum sha1sum sha256sum sha512sum cksum base64 hexdump tac rev sum tsort dpkg rpm apt apt-get
  apt-cache yum dnf apk pacman brew snap npm yarn pnpm pip pip3 pipx gem cargo rustup go make gmake
  ninja cmake ctest meson docker docker-compose podman kubectl helm terraform ssh dig host nslookup
  nc ping gh glab fd fdfind eslint prettier tsc jest vitest pytest git`)

export function isNet(name: string): boolean {
  return net.includes(name)
}

export function isShell(name: string): boolean {
  return shells.includes(name)
}

export function isPlainProgram(name: string): boolean {
  return plain.includes(name)
}

/** Refuses the programs that never run. */
export function checkProgram(base: string, only: ReadonlySet<string> | undefined): void {
  if (only !== undefined && !only.has(base))
    throw new Refusal(
      'not-allowed',
      `${shown(base)} is not among the commands that may run`,
      `Use only: ${[...only].map(shown).join(', ').slice(0, 1_000)}.`,
    )
  checkNotWeir(base)
  if (never.includes(base) || base.startsWith('mkfs'))
    throw new Refusal(
      'not-allowed',
      `${shown(base)} changes the machine itself`,
      'Leave that to a person, and say what you need.',
    )
  if (opaque.includes(base))
    throw new Refusal(
      'unknowable',
      `the command that ${shown(base)} runs or changes cannot be seen from its arguments`,
      `Run the command without ${shown(base)}.`,
    )
}

/** Whether this name, as an argument of an unknown program, may be a command that it runs. */
export function isRefused(base: string): boolean {
  return weir.test(base) || never.includes(base) || opaque.includes(base) || base.startsWith('mkfs')
}

const weir = /^(.*[/:])?weir(-agents)?(-\d[\w.-]*)?(@.*)?(\.([cm]?[jt]s|git|tgz))?(#.*)?$/

export function checkNotWeir(name: string): void {
  if (weir.test(name))
    throw new Refusal('not-allowed', 'it controls Weir itself', 'Leave that to a person.')
}

// ── Options that name a program ──

/** The same meaning in any program: their value is a command, or a file of code. */
const anywhere =
  /^--(rsh(-command)?|(?!no-).*pager|.*shell|.*editor|.*askpass|.*compress-program|unzip-command|upload-pack|receive-pack|ext-diff|textconv|open-files-in-pager|.*ssh-command|proxy-command|rsync-path|to-command|checkpoint-action|info-script|new-volume-script|strip-program|use-askpass|browser|html|exec-path|config-env|preprocessor|hostname-bin|exec-batch|mount-program|unix-socket-command|init-command)(=|$)/

/** By program: the options that name a program or a file of settings. */
const own: Record<string, string> = {
  tar: '-I -F --to-command --checkpoint-action --info-script --new-volume-script --use-compress-program',
  rsync: '-e -M --rsh --rsync-path',
  ssh: '-o -F -S -E',
  scp: '-o -F -S -D',
  sftp: '-o -F -S -D -b',
  man: '-P -H -C --pager --html --config-file',
  split: '--filter',
  install: '--strip-program',
  zip: '-T --unzip-command',
  sort: '--compress-program',
  curl: '-K --config',
  wget: '--config --use-askpass',
  make: '--eval -E',
  rg: '--pre --hostname-bin',
  fd: '-x -X --exec --exec-batch',
  go: '-exec -toolexec -vettool',
  less: '-k --lesskey-file --lesskey-src',
  gpg: '--photo-viewer --exec',
  nc: '-e -c --exec --sh-exec --lua-exec',
  openssl: '-engine -provider',
}
own.gmake = own.make as string
own.ncat = own.nc as string
own.fdfind = own.fd as string

/** A plain remote shell, and plain settings of ssh, start no other program. */
const plainRemote = /^ssh( -(p|i|l) ?[\w./~-]+| -q| -T| -x)*$/
const plainSetting =
  /^(StrictHostKeyChecking|ConnectTimeout|BatchMode|LogLevel|Port|User|ServerAlive\w+|UserKnownHostsFile)[= ][\w./]+$/i

/** Refuses an option that makes a program run another one. */
export function checkOptions(base: string, args: readonly string[]): void {
  const started = /^(less|more|most)$/.test(base) && args.find((arg) => !plainStart(arg))
  if (started)
    throw new Refusal(
      'unknowable',
      `${shown(base)} starts with the commands of "${shown(started)}"`,
      'Name only a line or a pattern, such as +20 or +/text.',
    )
  for (const name of list(own[base] ?? ''))
    for (const value of optionValues(args, name))
      if (!(base === 'rsync' ? plainRemote : plainSetting).test(value)) throw runs(base, name)
  const odd = args.find((arg) => anywhere.test(arg))
  if (odd !== undefined) throw runs(base, odd)
}

/** Behind `+`, a pager takes the keys of its first commands, and `!` among them starts a program. */
function plainStart(arg: string): boolean {
  if (isUnknown(arg[0] ?? '')) return true
  return !arg.startsWith('+') || /^\+{1,2}(\d*[gGpF%]?|[/?][^\p{Cc}\uE000]*)$/u.test(arg)
}

function runs(base: string, name: string): Refusal {
  return new Refusal(
    'unknowable',
    `with ${shown(name)} ${shown(base)} runs another program or reads its settings from a file`,
    `Run ${shown(base)} without ${shown(name)}.`,
  )
}

/** By program: the options that name a file of commands. */
const scripts: Record<string, string> = {
  make: '-f --file --makefile',
  gmake: '-f --file --makefile',
  ninja: '-f',
  cmake: '-P',
  just: '-f --justfile',
  rake: '-f --rakefile',
}

/** The files of commands that these arguments name, from the folder in which the program starts. */
export function scriptsOf(base: string, args: readonly string[]): string[] {
  const folder = base === 'cmake' ? '' : optionValues(args, '-C --directory').join('/')
  return optionValues(args, scripts[base] ?? '').map((file) =>
    folder === '' || /^[-/]/.test(file) ? file : `${folder}/${file}`,
  )
}
