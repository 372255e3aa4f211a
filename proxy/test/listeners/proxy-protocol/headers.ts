/** Headers as a load balancer writes them. */
const signature = Buffer.from("0d0a0d0a000d0a515549540a", "hex");

export function version2(
  address: Buffer,
  {
    command = 0x21,
    transport,
    tlvs = Buffer.alloc(0),
  }: { readonly command?: number; readonly transport: number; readonly tlvs?: Buffer },
): Buffer {
  const prefix = Buffer.from([...signature, command, transport, 0, 0]);
  prefix.writeUInt16BE(address.length + tlvs.length, 14);
  return Buffer.concat([prefix, address, tlvs]);
}

/** Source and destination of one family, then their ports. */
export function addresses(source: readonly number[], port: number): Buffer {
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(port, 0);
  ports.writeUInt16BE(443, 2);
  return Buffer.concat([Buffer.from(source), Buffer.alloc(source.length, 9), ports]);
}

export const tlv = (type: number, length: number): Buffer =>
  Buffer.concat([Buffer.from([type, length >> 8, length & 255]), Buffer.alloc(length, 7)]);
