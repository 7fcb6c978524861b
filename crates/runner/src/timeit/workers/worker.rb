# The worker of `becalm timeit` for Ruby: times the statement that lies beside it.
#
#     worker.rb calibrate MIN_NANOSECONDS      doubles the loops until a value takes so long
#     worker.rb run LOOPS WARMUPS VALUES       times values of so many loops

# What the statement prints must not come between the results.
$becalm_results = $stdout.dup
$stdout.reopen(File::NULL, "w")

module Becalm
  MOST_LOOPS = 2**32

  def self.read(name)
    File.read(File.join(__dir__, name), encoding: "UTF-8")
  end

  # Sources with the names that mistakes are shown with, and the user's first line as line 1.
  def self.check(name)
    RubyVM::InstructionSequence.compile(read(name), "<#{name}>") if defined?(RubyVM::InstructionSequence)
  end

  def self.compiled
    %w[setup statement teardown].each { |name| check(name) }
    source = <<~RUBY
      lambda do |becalm_loops|
      #{read("setup")}
      becalm_each = 0
      becalm_start = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      while becalm_each < becalm_loops
      becalm_each += 1
      #{read("statement")}
      end
      becalm_end = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      #{read("teardown")}
      becalm_end - becalm_start
      end
    RUBY
    eval(source, TOPLEVEL_BINDING.dup, "<timeit>", -1)
  end

  def self.calibrate(inner, least)
    loops = 1
    raw = []
    loop do
      value = inner.call(loops)
      raw << "[#{loops}, #{value}]"
      break if value >= least || loops >= MOST_LOOPS
      loops *= 2
    end
    program = defined?(RbConfig) ? RbConfig.ruby : ""
    version = "#{RUBY_ENGINE} #{RUBY_ENGINE_VERSION}"
    version += " YJIT" if defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?
    %({"loops": #{loops}, "raw": [#{raw.join(", ")}], "program": #{program.dump}, "version": #{version.dump}})
  end

  def self.run(inner, loops, warmups, values)
    raw = Array.new(warmups + values) { inner.call(loops) }
    %({"loops": #{loops}, "warmups": #{raw.first(warmups)}, "values": #{raw.drop(warmups)}})
  end
end

begin
  becalm_what, *becalm_numbers = ARGV.shift(4)
  becalm_line = Becalm.public_send(becalm_what, Becalm.compiled, *becalm_numbers.map(&:to_i))
rescue Exception => error
  trace = (error.backtrace || []).reject { |line| line.start_with?(__FILE__) }
  $stderr.puts("#{error.message} (#{error.class})", *trace.map { |line| "\tfrom #{line}" })
  exit!(1)
end
$becalm_results.puts(becalm_line)
$becalm_results.flush
