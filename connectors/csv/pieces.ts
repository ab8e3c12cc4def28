/** Content that is written piece by piece, because all of it at once would take much memory. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** The bytes of a file; they can be read again, and may then be newer. */
export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Returns whether a file has exactly these bytes; reads both up to the first difference. */
export async function holdsPieces(path: string, pieces: Pieces): Promise<boolean> {
  const file = await openIfFile(path);
  if (file === null) return false;
  try {
    for await (const piece of pieces) if (!(await nextIs(file, piece))) return false;
    return await isAtEnd(file);
  } finally {
    await file.close();
  }
}

/** Others may write to the folder: what has the name may be a pipe that never has a reader. */
async function openIfFile(path: string): Promise<FileHandle | null> {
  let file: FileHandle | null = null;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
  } catch {
    // It cannot be read, so it is replaced.
  }
  await file?.close();
  return null;
}

async function nextIs(file: FileHandle, piece: Uint8Array): Promise<boolean> {
  const found = Buffer.alloc(piece.length);
  for (let filled = 0; filled < found.length; ) {
    const bytes = await readNext(file, found.subarray(filled));
    if (bytes === null || bytes === 0) return false;
    filled += bytes;
  }
  return found.equals(piece);
}

const isAtEnd = async (file: FileHandle) => (await readNext(file, Buffer.alloc(1))) === 0;

/** Returns how many bytes were read: 0 at the end, null where the file cannot be read. */
async function readNext(file: FileHandle, into: Buffer): Promise<number | null> {
  try {
    return (await file.read(into, 0, into.length, null)).bytesRead;
  } catch {
    return null;
  }
}
