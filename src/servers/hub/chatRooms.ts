/** What was said in the rooms of a small chat; bounded, the oldest is forgotten first. */
export interface ChatMessage {
  readonly id: string;
  /** Whatever the client says: a name or a number. */
  readonly author: unknown;
  readonly text: string;
}

export const mostRooms = 10_000;
export const keptMessages = 100;
/** Longer ones are passed on, but not kept. */
const longestText = 4096;

export class ChatRooms {
  private readonly rooms = new Map<string, ChatMessage[]>();
  private count = 0;

  post(room: string, author: unknown, text: string): ChatMessage {
    const message = { id: String((this.count += 1)), author, text };
    if (text.length > longestText) return message;
    const known = this.rooms.get(room);
    const messages = known ?? [];
    messages.push(message);
    if (messages.length > keptMessages) messages.shift();
    if (known === undefined) this.rooms.set(room, messages);
    if (this.rooms.size > mostRooms) this.rooms.delete(this.rooms.keys().next().value!);
    return message;
  }

  /** The latest first. */
  history(room: string, count: number): ChatMessage[] {
    const latest = Math.max(0, Math.min(keptMessages, Math.floor(count)));
    return latest === 0 ? [] : (this.rooms.get(room) ?? []).slice(-latest).reverse();
  }
}
