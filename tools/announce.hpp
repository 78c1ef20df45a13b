// How a rank tells why it does not become its program. Any rank may be the only one that cannot, so none may
// keep silent; and all may fail alike, where one line is enough.
#pragma once

#include <string>

namespace forebay::tools {

/// Tells the message, and returns `status`. The first rank speaks at once. The others give the launcher the
/// time to end them if the first one fails too; then one rank of each node speaks for those that have the
/// same to say at the same time.
int give_up(int status, const std::string& message);

/// The rank of a node that speaks for others. Whether somebody does is told by a socket in the abstract
/// namespace, which vanishes with its process: it exists from the moment a process takes the word, and
/// listens once the line is written. Never silent: without a socket, or where another user's has the name,
/// everybody speaks.
class Spokesman {
 public:
  /// `topic` tells job and message from all others on this node.
  explicit Spokesman(const std::string& topic);
  ~Spokesman();
  Spokesman(const Spokesman&) = delete;
  Spokesman& operator=(const Spokesman&) = delete;

  /// Whether this process has to speak; false once another one has spoken, which it waits for.
  bool has_the_word() const { return has_the_word_; }
  /// The line is written.
  void spoken();

 private:
  int socket_ = -1;
  bool has_the_word_ = true;
};

}  // namespace forebay::tools
