/** Generates bytes of HTTP/1 connections: valid requests, nearly valid ones, and ones with changed bytes. */
import { Choices } from "../../../chaos/random.ts";

const methods = [
  ..."GET GET GET POST POST PUT PATCH DELETE OPTIONS HEAD PROPFIND M-SEARCH QUERY TRACE".split(" "),
  ..."CONNECT BREW get ANNOUNCE X PRI".split(" "),
  "G T",
  "G\u00e9T",
  "",
];
const targets = [
  ..."/ / / /a?b=c /%20/é /a#b // /?? * http://a/ http://a:80/b?c a:80 HTTP://a@b/ http:/// http://a foo".split(
    " ",
  ),
  ...'/"<>\\^`{|}~ /a[b] ?a ftp://a/ a:b://c http://[::1]:80/ /a\tb /a\u0001 1http://a/ http://a?b http:///b'.split(
    " ",
  ),
];
const versions = [
  ..."HTTP/1.1 HTTP/1.1 HTTP/1.1 HTTP/1.1 HTTP/1.1 HTTP/1.0 HTTP/1.0 HTTP/2.0 HTTP/1.2 HTTP/0.9".split(" "),
  ..."http/1.1 HTTP/1.10 HTTP/11.1 HTTP/1 HTTP/1.x HTTPS/1.1 HTTP/1.1x RTSP/1.0 HTTP/ HTTP/3.0".split(" "),
];
const gaps = [" ", " ", " ", " ", " ", " ", " ", " ", "  ", "\t", "", " \t", "\v", "\r"];
const lineEnds = [
  ...Array.from({ length: 30 }, () => "\r\n"),
  "\n",
  "\r",
  "\r\r\n",
  "\n\r",
  " \r\n",
  "\t\r\n",
];
const fields = [
  ...["Host: a", "Host: a", "host:a", "HOST:\ta\t", "Host : a", "Host", "Host:"],
  ...[
    "X: y",
    "X:",
    "X:y",
    "X: \t y \t ",
    "X:  ",
    "X: é",
    "X: a\u0000",
    "X: a\u007f",
    "X: a\u0001b",
    "X\u00e9: y",
  ],
  ...[
    " X: y",
    "\tX: y",
    "X(: y",
    ": y",
    "X:\r\n y",
    "X: y\r\n\tz",
    "X: a\rb",
    "X: a\nb",
    "X\0: y",
    "X: \u000b",
    "X y",
  ],
  ...["!#$%&'*+-.^_`|~: y", "X-Long: ".padEnd(300, "v"), "Cookie: a=b; c=d", "X:: y", "X: :", 'X: "a,b"'],
  ...["Connection: close", "Connection: keep-alive", "Connection: Keep-Alive, close", "Connection: upgrade"],
  ...["Connection: x, y", "connection:", "Proxy-Connection: close", "Keep-Alive: 5", "Connection: close-x"],
  ...[
    "Upgrade: websocket",
    "Upgrade: h2c",
    "Expect: 100-continue",
    "Expect: x",
    "TE: trailers",
    "Trailer: X",
  ],
];
const lengths = [
  ...[
    "Content-Length: #",
    "Content-Length: #",
    "content-length:#",
    "CONTENT-LENGTH: 00#",
    "Content-Length: #, #",
  ],
  ...[
    "Content-Length: +#",
    "Content-Length: -#",
    "Content-Length: 0x#",
    "Content-Length: # ",
    "Content-Length: # 1",
  ],
  ...[
    "Content-Length: #\r\nContent-Length: #",
    "Content-Length : #",
    "Content-Length:",
    "Content-Length: #.0",
  ],
  ...["Content-Length: 9007199254740993", "Content-Length: 99999999999999999999", "Content-Length: \u00a0#"],
  ...["Content-Length: 18446744073709551616", "Content-Length: 00000000000000000#", "Content-Length: \t#\t"],
];
const codings = [
  ...["Transfer-Encoding: chunked", "Transfer-Encoding: chunked", "transfer-encoding:CHUNKED"],
  ...[
    "Transfer-Encoding: chunked, chunked",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: chunked, gzip",
  ],
  ...[
    "Transfer-Encoding: identity",
    "Transfer-Encoding:",
    "Transfer-Encoding: xchunked",
    "Transfer-Encoding: chunkedx",
  ],
  ...[
    "Transfer-Encoding: chunked;a=b",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding: ,chunked",
    "Transfer-Encoding",
  ],
  ...[
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 3",
  ],
  ...[
    "Content-Length: 0\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding:\r\n chunked",
    "Transfer-Encoding: \u000bchunked",
  ],
  ...[
    "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding:",
  ],
  ...["Transfer-Encoding: chunked ", "Transfer-Encoding: \tchunked\t", 'Transfer-Encoding: "chunked"'],
];
const sizes = [
  "#",
  "#",
  "#",
  "#",
  "000#",
  "0x#",
  "# ",
  " #",
  "+#",
  "-#",
  "#h",
  "",
  "0000000000000#",
  "00000000000000000#",
];
const extensions = [
  ...[
    "",
    "",
    "",
    "",
    "",
    ";a",
    ";a=b",
    ';a="b c"',
    ';a="\\""',
    ";a=b;c=d",
    ";",
    ";=b",
    ";a=",
    "; a",
    " ;a",
    ";a =b",
  ],
  ...[
    ';a="b',
    ";a\u0001",
    ';a="b"c',
    ";a=b ",
    "\t",
    ";a=é",
    ';a="é"',
    ';a=b"c"',
    ";;",
    ';a="\t"',
    ';a="\u0001"',
    ";a;",
  ],
];
const trailers = [
  ...[
    "",
    "",
    "",
    "",
    "X-T: 1\r\n",
    "X-T: 1\r\nx-t: 2\r\n",
    "Content-Length: 3\r\n",
    "transfer-encoding: chunked\r\n",
  ],
  ...[
    "X : y\r\n",
    " X: y\r\n",
    "X: a\n",
    "X: a\u0000\r\n",
    "Host: b\r\n",
    "X\r\n",
    "X:\r\n",
    "X: y\r\n z\r\n",
  ],
];
const contents = [
  "",
  "a",
  "abc",
  "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
  "0\r\n\r\n",
  "\r\n",
  "é\u0000\u00ff",
  "x".repeat(70),
];

/** Picks the valid choice in most cases, so that requests are read to their end. */
const pick = (choices: Choices, list: readonly string[], usual: number): string =>
  choices.chance(usual) ? (list[0] as string) : choices.one(list);

function chunks(choices: Choices): string {
  let text = "";
  for (let count = choices.below(4); count > 0; count--) {
    const content = choices.one(contents);
    if (content === "" && choices.chance(0.9)) continue;
    const size = pick(choices, sizes, 0.9).replace("#", content.length.toString(16));
    const ends = [pick(choices, lineEnds, 0.97), pick(choices, lineEnds, 0.97)];
    text += `${size}${pick(choices, extensions, 0.7)}${ends[0]}${content}${ends[1]}`;
  }
  const last = choices.chance(0.97) ? "0" : choices.one(["00", "0 ", "", "00000000000000000"]);
  return `${text}${last}${pick(choices, extensions, 0.9)}\r\n${pick(choices, trailers, 0.6)}${pick(choices, lineEnds, 0.98)}`;
}

function request(choices: Choices): string {
  const version = pick(choices, versions, 0.9);
  const line =
    pick(choices, ["", "\r\n", "\n", "\r", "\r\n\r\n", "\r\n".repeat(9), " "], 0.95) +
    (choices.chance(0.8) ? choices.one(methods.slice(0, 9)) : choices.one(methods)) +
    pick(choices, gaps, 0.97) +
    pick(choices, targets, 0.7) +
    pick(choices, gaps, 0.97) +
    version +
    pick(choices, lineEnds, 0.98);
  const lines = Array.from({ length: choices.below(4) }, () =>
    choices.chance(0.7) ? "Host: a" : choices.one(fields),
  );
  let body = "";
  if (choices.chance(0.3)) {
    const content = choices.one(contents);
    lines.push(pick(choices, lengths, 0.7).replaceAll("#", String(content.length)));
    body = content;
  } else if (choices.chance(0.4)) {
    lines.push(pick(choices, codings, 0.7));
    body = chunks(choices);
  }
  if (choices.chance(0.3)) lines.push(choices.one(fields));
  const end = pick(choices, lineEnds, 0.97);
  const fieldLines = lines.map((each) => each + (choices.chance(0.98) ? end : choices.one(lineEnds)));
  return `${line}${fieldLines.join("")}${pick(choices, lineEnds, 0.98)}${body}`;
}

const strangeBytes = [0, 1, 9, 10, 11, 12, 13, 32, 34, 48, 58, 59, 61, 65, 97, 127, 128, 233, 255];

function mutate(choices: Choices, bytes: Buffer): Buffer {
  const at = choices.below(bytes.length + 1);
  const size = choices.one([0, 1, 1, 1, 2, 4, 16]);
  const put = Array.from({ length: choices.one([0, 1, 1, 2]) }, () =>
    choices.chance(0.7) ? choices.one(strangeBytes) : choices.below(256),
  );
  // Sometimes a part of the bytes is copied to another position.
  const from = choices.below(bytes.length + 1);
  const copied = choices.chance(0.2) ? bytes.subarray(from, from + choices.below(40)) : Buffer.from(put);
  return Buffer.concat([bytes.subarray(0, at), copied, bytes.subarray(Math.min(bytes.length, at + size))]);
}

/**
 * Generates the bytes of a connection: one or two requests, possibly repeated, and an ordinary one that shows where
 * they end.
 */
export function generatedConnection(choices: Choices): Buffer {
  const text = request(choices).repeat(choices.chance(0.15) ? 2 + choices.below(3) : 1);
  let bytes = Buffer.from(text + (choices.chance(0.3) ? request(choices) : ""), "latin1");
  while (choices.chance(0.35)) bytes = mutate(choices, bytes) as typeof bytes;
  if (choices.chance(0.05)) return bytes.subarray(0, choices.below(bytes.length + 1));
  return Buffer.concat([bytes, Buffer.from("GET /last HTTP/1.1\r\nHost: a\r\n\r\n")]);
}

/** Cuts bytes at random positions, usually only a few. */
export function cut(choices: Choices, bytes: Buffer): Buffer[] {
  if (choices.chance(0.1)) return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
  const marks = Array.from({ length: 1 + choices.below(4) }, () => choices.below(bytes.length + 1));
  const sorted = [...new Set([0, ...marks])].sort((a, b) => a - b);
  return sorted
    .map((mark, index) => bytes.subarray(mark, sorted[index + 1]))
    .filter(({ length }) => length > 0);
}
