// What a load generator costs at least: one thread, epoll, one buffer for all sockets, prepared masked frames, and of
// each answer its length and its stamp. Same work as the other clients of the bench: each message is stamped, each answer
// is read to its end, and its time counts in a histogram.
//
//   client PORT CONNECTIONS SECONDS json|messagepack|broadcast
//
// Built with WITH_TLS it speaks TLS by OpenSSL. Prints one line of JSON with the fields of bench/measure.mjs. Linux; the peer listens on 127.0.0.1.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_TLS
#include <openssl/ssl.h>
static SSL_CTX *tls;
#endif

enum { blobBytes = 2048, stampDigits = 16, headBytes = 256, bufferBytes = 256 * 1024, buckets = 100000 };

typedef struct {
  int fd;
#ifdef WITH_TLS
  SSL *ssl;
#endif
  // Of the frame at hand, bytes that are still to come.
  uint32_t left;
  uint64_t stampUs;
  // Begin of a frame that came in pieces.
  uint32_t keptBytes;
  char *kept;
} Connection;

static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
static uint8_t frame[blobBytes + 512];
static size_t frameBytes, stampAt;
// Room for what was kept lies in front.
static char memory[headBytes + bufferBytes];
static uint32_t histogram[buckets];
static uint64_t count;
static Connection *connections;
static int connectionCount, missing, isBroadcast;

static void die(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t nowUs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static double cpuUs(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return 1e6 * (used.ru_utime.tv_sec + used.ru_stime.tv_sec) + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

static double residentBytes(void) {
  long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2) die("/proc/self/statm");
  fclose(file);
  return (double)resident * sysconf(_SC_PAGESIZE);
}

// Both as the calls of the system: how many bytes, 0 at the end, −1 and EAGAIN when there is nothing yet.
static ssize_t receive(Connection *connection, void *bytes, size_t most) {
#ifdef WITH_TLS
  int got = SSL_read(connection->ssl, bytes, (int)most);
  if (got > 0) return got;
  int error = SSL_get_error(connection->ssl, got);
  errno = error == SSL_ERROR_WANT_READ ? EAGAIN : errno;
  return error == SSL_ERROR_ZERO_RETURN ? 0 : -1;
#else
  return read(connection->fd, bytes, most);
#endif
}

static ssize_t transmit(Connection *connection, const void *bytes, size_t count) {
#ifdef WITH_TLS
  return SSL_write(connection->ssl, bytes, (int)count);
#else
  return write(connection->fd, bytes, count);
#endif
}

static size_t frameOf(uint8_t *target, int opcode, const char *payload, size_t bytes) {
  size_t at = 2;
  target[0] = (uint8_t)(0x80 | opcode);
  if (bytes < 126) {
    target[1] = (uint8_t)(0x80 | bytes);
  } else {
    target[1] = 0x80 | 126;
    target[2] = (uint8_t)(bytes >> 8);
    target[3] = (uint8_t)bytes;
    at = 4;
  }
  memcpy(target + at, mask, 4);
  at += 4;
  for (size_t byte = 0; byte < bytes; byte++) target[at + byte] = (uint8_t)payload[byte] ^ mask[byte % 4];
  return at + bytes;
}

static void prepare(const char *mode) {
  static char message[blobBytes + 256], blob[blobBytes + 1];
  static const char zeros[] = "0000000000000000";
  size_t bytes, digits;
  memset(blob, 'x', blobBytes);
  if (strcmp(mode, "messagepack") == 0) {
    char body[blobBytes + 128];
    size_t at = (size_t)sprintf(body, "\x96\x01\x80\xc0\xa4" "Echo\x91\x82\xb1payload.Timestamp\xb0%s\xb3payload.MessageBlob", zeros);
    memcpy(body + at, "\xda\x08\x00", 3);
    memcpy(body + at + 3, blob, blobBytes);
    at += 3 + blobBytes;
    body[at++] = (char)0x90;
    message[0] = (char)((at & 0x7f) | 0x80);
    message[1] = (char)(at >> 7);
    memcpy(message + 2, body, at);
    bytes = at + 2;
    digits = (size_t)((char *)memmem(message, bytes, zeros, stampDigits) - message);
    frameBytes = frameOf(frame, 2, message, bytes);
  } else {
    bytes = (size_t)sprintf(message,
      "{\"type\":1,\"target\":\"%s\",\"arguments\":[{\"payload.Timestamp\":\"%s\",\"payload.MessageBlob\":\"%s\"}]}\x1e",
      isBroadcast ? "Broadcast" : "Echo", zeros, blob);
    digits = (size_t)(strstr(message, zeros) - message);
    frameBytes = frameOf(frame, 1, message, bytes);
  }
  stampAt = frameBytes - bytes + digits;
}

static void sendMessage(Connection *connection) {
  uint64_t us = nowUs();
  size_t phase = stampAt - 8;
  for (int digit = stampDigits - 1; digit >= 0; digit--, us /= 10)
    frame[stampAt + digit] = (uint8_t)('0' + us % 10) ^ mask[(phase + digit) % 4];
  if (transmit(connection, frame, frameBytes) != (ssize_t)frameBytes) die("write");
}

static void complete(Connection *connection) {
  uint64_t us = nowUs() - connection->stampUs;
  histogram[us < buckets ? us : buckets - 1]++;
  count++;
  if (!isBroadcast) sendMessage(connection);
  else if (--missing == 0) {
    missing = connectionCount;
    sendMessage(connections);
  }
}

// False when there is nothing more: a record of TLS may leave more behind than the system knows of.
static int readSome(Connection *connection) {
  char *at = memory + headBytes - connection->keptBytes;
  ssize_t got = receive(connection, memory + headBytes, bufferBytes);
  if (got == 0) die("the peer has closed");
  if (got < 0) {
    if (errno == EAGAIN) return 0;
    die("read");
  }
  char *end = memory + headBytes + got;
  if (connection->keptBytes > 0) memcpy(at, connection->kept, connection->keptBytes);
  connection->keptBytes = 0;
  while (at < end) {
    if (connection->left > 0) {
      size_t taken = (size_t)(end - at) < connection->left ? (size_t)(end - at) : connection->left;
      connection->left -= (uint32_t)taken;
      at += taken;
      if (connection->left == 0) complete(connection);
      continue;
    }
    // Answers are as long as messages, and their stamp stands near the begin.
    if (end - at < 140) {
      if (connection->kept == NULL) connection->kept = malloc(headBytes);
      connection->keptBytes = (uint32_t)(end - at);
      memcpy(connection->kept, at, connection->keptBytes);
      break;
    }
    if ((at[1] & 0x7f) != 126) die("unexpected frame");
    connection->left = (uint32_t)((uint8_t)at[2] << 8 | (uint8_t)at[3]);
    static const char key[] = "payload.Timestamp";
    char *found = memmem(at + 4, 120, key, sizeof key - 1);
    if (found == NULL) die("no stamp");
    found += sizeof key - 1;
    while (*found < '0' || *found > '9') found++;
    uint64_t stamp = 0;
    for (int digit = 0; digit < stampDigits; digit++) stamp = stamp * 10 + (uint64_t)(found[digit] - '0');
    connection->stampUs = stamp;
    at += 4;
  }
#ifdef WITH_TLS
  return SSL_pending(connection->ssl) > 0;
#else
  return 0;
#endif
}

static void openOne(Connection *connection, int port, const char *mode) {
  char text[512];
  uint8_t hello[128];
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) die("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connection->fd = fd;
#ifdef WITH_TLS
  connection->ssl = SSL_new(tls);
  SSL_set_fd(connection->ssl, fd);
  if (SSL_connect(connection->ssl) != 1) die("TLS");
#endif
  int bytes = sprintf(text,
    "GET /hub HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", port);
  if (transmit(connection, text, (size_t)bytes) != bytes) die("upgrade");
  for (size_t at = 0; memmem(text, at, "\r\n\r\n", 4) == NULL;) {
    ssize_t got = receive(connection, text + at, sizeof text - at);
    if (got <= 0) die("upgrade");
    at += (size_t)got;
  }
  const char *protocol = strcmp(mode, "messagepack") == 0 ? "messagepack" : "json";
  bytes = sprintf(text, "{\"protocol\":\"%s\",\"version\":1}\x1e", protocol);
  size_t length = frameOf(hello, 1, text, (size_t)bytes);
  if (transmit(connection, hello, length) != (ssize_t)length) die("handshake");
  // A head of two bytes, {} and its end.
  for (size_t at = 0; at < 5;) {
    ssize_t got = receive(connection, text, 5 - at);
    if (got <= 0) die("handshake");
    at += (size_t)got;
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
}

static void serve(int poll, uint64_t untilUs) {
  struct epoll_event events[512];
  while (nowUs() < untilUs) {
    int ready = epoll_wait(poll, events, 512, 100);
    for (int at = 0; at < ready; at++)
      while (readSome(events[at].data.ptr));
  }
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  int port = atoi(argv[1]), poll = epoll_create1(0);
  double seconds = atof(argv[3]);
  connectionCount = missing = atoi(argv[2]);
  isBroadcast = strcmp(argv[4], "broadcast") == 0;
  prepare(argv[4]);
#ifdef WITH_TLS
  // The certificate of the bench's peer is nobody's: it is not checked, as the other client does not check it either.
  tls = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_mode(tls, SSL_MODE_RELEASE_BUFFERS);
#endif
  double empty = residentBytes();
  connections = calloc((size_t)connectionCount, sizeof *connections);
  for (int at = 0; at < connectionCount; at++) {
    openOne(&connections[at], port, argv[4]);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[at]};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, connections[at].fd, &event) != 0) die("epoll");
  }
  double idle = residentBytes();
  for (int at = 0; at < (isBroadcast ? 1 : connectionCount); at++) sendMessage(&connections[at]);
  serve(poll, nowUs() + 1000000);
  uint64_t before = count, startUs = nowUs();
  memset(histogram, 0, sizeof histogram);
  double cpu = cpuUs();
  serve(poll, startUs + (uint64_t)(1e6 * seconds));
  cpu = cpuUs() - cpu;
  double trips = (double)(count - before), seen = 0;
  int p50 = 0;
  while (p50 < buckets - 1 && (seen += histogram[p50]) < trips / 2) p50++;
  printf("{\"roundTrips\":%.0f,\"roundTripsPerSecond\":%.1f,\"cpuUs\":%.3f,\"p50Us\":%d,\"bytesPerConnection\":%.0f}\n",
    trips, trips * 1e6 / (double)(nowUs() - startUs), cpu / trips, p50, (idle - empty) / connectionCount);
  return 0;
}
